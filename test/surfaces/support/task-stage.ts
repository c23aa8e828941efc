import { BOUNDLESS, type Door, openDoor } from "../a2a/served/support/door.ts";
import type { Loose } from "../mcp/served/support/stall.ts";

export const INPUT = { low: 1, high: 6 };

/** The name of an entry of a message's x402 metadata. */
export const KEY = (name: string): string => `x402.payment.${name}`;

/** The x402 metadata of a task. */
export const metadataOf = ({ status }: Loose): Loose => status.message.metadata;

/** A door without limits, new for each test, and what a client does with its tasks. */
export interface TaskStage {
  readonly door: Door;
  send(message: object, headers?: Record<string, string>): Promise<Loose>;
  /** The task that a first message without a payment makes. */
  begin(skill: string, input?: unknown): Promise<Loose>;
  submit(taskId: string, payment: unknown, status?: string): Promise<Loose>;
  get(id: string): Promise<Loose>;
  /** A payment of what the task asks for. */
  pay(task: Loose, change?: (offer: Loose) => Loose): object;
}

/** To be called in a `describe`: opens and closes the door around each of its tests. */
export function stageTasks(): TaskStage {
  let door: Door;
  beforeEach(async () => {
    door = await openDoor({ budgets: BOUNDLESS });
  });
  afterEach(() => door.close());

  const stage: TaskStage = {
    get door() {
      return door;
    },
    send: (message, headers) =>
      door.call(
        "message/send",
        { message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } },
        headers,
      ),
    begin: async (skill, input = INPUT) =>
      (await stage.send({ parts: [{ kind: "data", data: { skill, input } }] })).result,
    submit: (taskId, payment, status = "payment-submitted") =>
      stage.send({ taskId, metadata: { [KEY("status")]: status, [KEY("payload")]: payment } }),
    get: (id) => door.call("tasks/get", { id }),
    pay: (task, change) => door.pay(metadataOf(task)[KEY("required")], change),
  };
  return stage;
}
