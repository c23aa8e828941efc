import { expect } from "chai";
import { createListTasks } from "../../../runtime/surfaces/a2a/list-tasks.ts";
import type { Task } from "../../../runtime/surfaces/a2a/task-book.ts";
import type { TaskContext } from "../../../runtime/surfaces/a2a/tasks.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import type { Loose } from "../mcp/served/support/stall.ts";

const CONTEXT = { contextId: "c" };
const FILE = { media: "application/pdf", data: "A".repeat(6 * 1024 * 1024) };
const IDS = Array.from({ length: 20 }, (_, at) => String(at));

describe("a list of tasks with large results", () => {
  let reading = 0;
  let most = 0;
  const find = async (id: string): Promise<Task> => {
    reading += 1;
    most = Math.max(most, reading);
    await new Promise((done) => setImmediate(done));
    reading -= 1;
    const head = { id, ...CONTEXT, skill: "draw", state: "completed" as const, text: "Done." };
    return { ...head, output: FILE, isFile: true, updatedAt: 1000 - Number(id) };
  };
  const list = createListTasks({
    index: { ofContext: async () => IDS, ofAccounts: async () => [] },
    find,
    store: createMemoryStore(),
  });
  const withArtifacts = async (params: object): Promise<string[]> => {
    const { tasks } = (await list({ ...CONTEXT, ...params } as never, {} as TaskContext)) as Loose;
    expect(tasks.map(({ id }: Loose) => id)).to.deep.equal(IDS);
    return tasks.filter((task: object) => "artifacts" in task).map(({ id }: Loose) => id);
  };

  it("has the newest results that fit", async () => {
    expect(await withArtifacts({ includeArtifacts: true })).to.deep.equal(["0", "1"]);
  });

  it("reads a few of them at once, and has none that was not asked for", async () => {
    most = 0;
    expect(await withArtifacts({})).to.deep.equal([]);
    expect(most).to.be.at.most(8);
  });
});
