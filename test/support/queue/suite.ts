import { testProcesses } from "./processes.ts";
import { stageQueue, type TestPlace } from "./stage.ts";
import { testTurns } from "./turns.ts";

/** The tests that every queue of jobs passes. */
export function testQueue(name: string, prepare: () => Promise<TestPlace>): void {
  describe(`a line of jobs in ${name}`, () => {
    const stage = stageQueue(prepare);
    testTurns(stage);
    testProcesses(stage);
  });
}
