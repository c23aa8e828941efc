import { expect } from "chai";
import { createRedisHealth, type RedisHealth } from "../../../runtime/drivers/store/redis-health.ts";
import { eventually } from "../../support/eventually.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";

const LOSES = "Redis may lose the newest payments when it crashes";
const SOUND = {
  memory: "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n",
  persistence: "# Persistence\r\naof_enabled:1\r\n",
  replication: "# Replication\r\nrole:master\r\n",
};

describe("the health of a Redis", () => {
  let time: FrozenTime;
  let info: Record<string, string>;
  let fsync: string | Error;
  let mark: string | null;
  let refusal: string | undefined;
  let asked: number;
  let counted: number;
  let logged: string[];
  let health: RedisHealth;
  beforeEach(() => {
    time = freezeTime();
    [info, fsync, mark, refusal, asked, counted, logged] = [{ ...SOUND }, "always", null, undefined, 0, 0, []];
    const write = (event: string, { reason, warning }: Readonly<Record<string, unknown>> = {}): void =>
      void logged.push(`${event} ${reason ?? warning}`);
    health = createRedisHealth({
      redis: {
        async info(section) {
          asked += 1;
          return info[section] ?? "";
        },
        async configGet() {
          if (fsync instanceof Error) throw fsync;
          return { appendfsync: fsync };
        },
        mark: async () => mark,
        async count() {
          if (refusal !== undefined) throw new Error(refusal);
          counted += 1;
          return counted;
        },
      },
      log: { info: write, warn: write, error: write },
    });
  });
  afterEach(() => {
    health.close();
    time.thaw();
  });
  const examined = async (): Promise<string | undefined> =>
    health.examine().then(
      () => undefined,
      ({ message }: Error) => message,
    );

  it("is sound where it evicts nothing, is a master and writes everything down at once", async () => {
    expect([await examined(), health.fault(), health.warnings(), logged]).to.deep.equal([undefined, undefined, [], []]);
    info.memory = "maxmemory:100\r\nmaxmemory_policy:noeviction\r\n";
    expect(await examined()).to.equal(undefined);
    info = {}; // Where it is hosted, it may say nothing.
    expect([await examined(), health.warnings()]).to.deep.equal([undefined, []]);
  });

  it("is broken where it may evict payments, or takes no writes: then nothing may be sold", async () => {
    info.memory = "maxmemory:100\r\nmaxmemory_policy:volatile-lru\r\n";
    const evicts = "Redis may forget payments: its maxmemory-policy is volatile-lru, set it to noeviction";
    expect(await examined()).to.equal(evicts);
    expect(health.fault()).to.include({ code: "unavailable", message: evicts });
    expect(health.fault()?.options.retryAfter).to.equal(5);
    info = { ...SOUND, replication: "role:slave\r\n" };
    expect(await examined()).to.match(/is a replica and takes no writes/);
    info = { ...SOUND, cluster: "# Cluster\r\ncluster_enabled:1\r\n" };
    expect(await examined()).to.equal("Redis runs as a cluster: name one with cluster-enabled no in REDIS_URL");
  });

  it("is in doubt after a disconnection, until Redis has shown its data", async () => {
    mark = "1";
    await health.recognize();
    health.disconnected();
    expect(health.fault()?.message).to.match(/^Redis was away/);
    fsync = "no";
    health.reconnected();
    health.disconnected(); // What is looked at now was asked before.
    await eventually(() => health.warnings().length > 0); // It has been seen.
    expect(health.fault()?.message).to.match(/^Redis was away/);
    health.reconnected();
    await eventually(() => health.fault() === undefined);
    mark = "2";
    health.disconnected();
    health.reconnected();
    await eventually(() => health.fault()?.message.startsWith("Redis has lost") === true);
  });

  it("is broken once it has lost its data, until these are brought back", async () => {
    mark = "1";
    await health.recognize();
    expect(await examined()).to.equal(undefined);
    const lost =
      "Redis has lost what payphone kept there: bring its data back, or restart payphone to begin without it";
    for (const other of [null, "2"]) {
      [mark, counted] = [other, 0];
      expect(await examined()).to.equal(lost);
    }
    [mark, counted] = ["1", 9];
    expect([await examined(), health.warnings()], "nor is it older").to.deep.equal([undefined, []]);
  });

  it("is broken where it is full, or takes no writes for another reason: it answers, but refuses them", async () => {
    const full = (used: number, buffers: number): string =>
      `used_memory:${used}\r\nmaxmemory:100\r\nmaxmemory_policy:noeviction\r\nmem_not_counted_for_evict:${buffers}\r\n`;
    info.memory = full(105, 5);
    expect(await examined()).to.equal(undefined);
    info.memory = full(106, 5);
    expect(await examined()).to.equal("Redis is full and takes no writes: raise its maxmemory");
    info = { ...SOUND };
    for (refusal of [
      "MISCONF Errors writing to the AOF file: No space left on device",
      "NOREPLICAS Not enough good replicas to write.",
    ])
      expect(await examined()).to.equal(`Redis takes no writes: ${refusal}`);
    refusal = undefined;
    expect(await examined()).to.equal(undefined);
  });

  it("is doubtful where a crash may lose what was written last", async () => {
    fsync = "everysec";
    expect(await examined()).to.equal(undefined);
    expect(health.warnings()).to.deep.equal([`${LOSES}: its appendfsync is everysec, set it to always`]);
    fsync = new Error("NOPERM");
    await examined();
    expect(health.warnings()).to.deep.equal([]);
    info.persistence = "aof_enabled:0\r\n";
    await examined();
    expect(health.warnings()).to.deep.equal([`${LOSES}: set its appendonly to yes and its appendfsync to always`]);
  });

  const ids = (now: string, before = "0".repeat(40), role = "master"): void => {
    info.replication = `role:${role}\r\nmaster_replid:${now}\r\nmaster_replid2:${before}\r\n`;
  };

  it("is doubtful after a replica has become the master, which may lack what was written last, until the next start", async () => {
    ids("one");
    await examined();
    ids("two"); // It was restarted, with its data.
    await examined();
    expect(health.warnings()).to.deep.equal([]);
    for (const [now, before] of [
      ["three", "two"],
      ["four", "three"],
    ] as const) {
      ids(now, before);
      expect(await examined()).to.equal(undefined);
      expect(health.warnings()).to.have.length(1);
      expect(health.warnings()[0]).to.match(/^A replica has become Redis's master/);
    }
    expect(logged).to.have.length(1);
  });

  it("is as doubtful where the former master answered as a replica of the new one first", async () => {
    ids("one");
    await examined();
    ids("two", undefined, "slave");
    await examined();
    ids("two", "one");
    await examined();
    expect(health.warnings()).to.have.length(1);
  });

  it("is looked at every five seconds until the end, and each change is logged once", async () => {
    info.replication = "role:slave\r\n";
    fsync = "no";
    await time.pass(4900);
    expect(asked).to.equal(0);
    await time.pass(200);
    await time.pass(5100);
    await time.pass(5100);
    expect(asked).to.equal(12);
    expect(logged.map((line) => line.split(" ", 1)[0])).to.deep.equal(["store.unsafe", "store.warning"]);
    info.replication = "role:master\r\n";
    fsync = "always";
    await time.pass(5100);
    expect(logged.slice(2).map((line) => line.split(" ", 1)[0])).to.deep.equal(["store.mended", "store.mended"]);
    expect(health.fault()).to.equal(undefined);
    health.close();
    await time.pass(60_000);
    expect(asked).to.equal(16);
  });
});
