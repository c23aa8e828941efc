// Generated from manifests/ and schemas/ by "payphone types". Do not edit.

/**
 * One service. Everything that a client can see of it is made from this file.
 */
export interface Manifest {
  /**
   * The service's name for machines: the file's name without `.yaml`, also the name of its MCP tool and OpenAPI operation. At most 64 letters, digits, `_`, `.` and `-`.
   */
  id: string;
  /**
   * The service's name for people, in at most 32 ASCII characters.
   */
  title: string;
  /**
   * What a caller gets, in at most 450 Latin-1 characters. Agents choose services by it, and facilitators refuse longer ones.
   */
  description: string;
  /**
   * `GET /path` or `POST /path`. A segment may be a parameter, `{name}`, which is then a field of the input.
   */
  route: string;
  /**
   * The same path with the other method, e.g. `[GET /v1/screen]`. A GET route takes the input's fields from the query.
   */
  aliases?: string[];
  /**
   * US dollars per call, in quotes: `"0.01"`. At least 0.001. Free when left out.
   */
  price?: string;
  /**
   * When the money moves. `first`: before the work, for services that leave traces (`readOnly: false`) or cost the seller per run; a paid call that is not delivered can be repeated without a new charge, or is refunded. `last` (the default): after the work, before the answer. Jobs are always paid first.
   */
  charge?: "first" | "last";
  /**
   * The free calls of each wallet that signs in (x402's `sign-in-with-x`): `{ calls: 5, per: day }`. For services with a price that are paid last. The site's `free_per_day` bounds all wallets together.
   */
  free?: {
    /**
     * The number of free calls.
     */
    calls: number;
    /**
     * The period: a whole hour or day (UTC).
     */
    per: "hour" | "day";
  };
  /**
   * Whether callers must sign in with a wallet (x402's `sign-in-with-x`). Only for services without a price; the handler gets the wallet's accounts.
   */
  sign_in?: boolean;
  /**
   * The code: `roll.roll` is the handler `roll` of `plugins/roll.ts` (or of `plugins/roll/index.ts`). Every service has either `handler` or `proxy`.
   */
  handler?: string;
  /**
   * Instead of `handler`: the service is somebody else's HTTP API (`upstream` and `request`) or a tool of an MCP server (`mcp` and `tool`). A call that fails there is never charged.
   */
  proxy?: {
    /**
     * The id of the source in `_site.yaml`, which has its URL, credential, timeout and retries. Left out only if `request` is a URL from the input.
     */
    upstream?: string;
    /**
     * The request below the upstream's URL, e.g. `GET /v1/{date}`: `{date}` is a field of the input, `{place.city}` a field of a field. Each value stays inside of its path segment; `{+path}` may be several segments, and `{path%2F}` sends slashes as `%2F`. `GET {url}` requests the public URL that the input names.
     */
    request?: string;
    /**
     * The query, by parameter: `{ base: "{base}" }`. A parameter without a value is left out. `"{days*}"` repeats the parameter for each item of a list; `"{days}"` joins them with commas. `"filter[*]": "{filter}"` sends each field of a mapping as `filter[name]`, and `"*": "{filter}"` as `name`.
     */
    query?: {
      [k: string]: string | number | boolean;
    };
    /**
     * Headers of the request, by name, with placeholders like those of `query`. Credentials belong to the upstream's `key`. The caller's own headers are never passed on.
     */
    headers?: {
      [k: string]: string;
    };
    /**
     * The body: `input` for the fields of the input that are used nowhere else, or a template of the body. `"{count}"` alone is the field with its type; in a longer text its value.
     */
    body?: string | {} | unknown[];
    /**
     * How the body is encoded: `json` (the default); `form`, as browsers send forms, where a mapping is sent as JSON, or as `item[price]=…` when its key is `"item[*]"`; `multipart`, a form with files, where a mapping is a part of type `application/json`; `text`, unchanged; `bytes`, from a base64 field. The header `content-type` sets the media type of `text` and `bytes`.
     */
    encoding?: "json" | "form" | "multipart" | "text" | "bytes";
    /**
     * The fields of the form that are files, with `encoding: multipart`: base64, or `{ data, name, media }` with `data` in base64. One whose template has no `data` in a call is left out.
     */
    files?: string[];
    /**
     * The upstream's statuses that are charged: every 2xx by default, but 206 of a file, a stream or a text only where `headers` ask for a `range`. All other statuses cost nothing.
     */
    charge_on?: number[];
    /**
     * How the upstream's answer becomes the service's answer.
     */
    answer?: {
      /**
       * The part of the answer to take: a JSON Pointer (RFC 6901), e.g. `/data/rates`.
       */
      pick?: string;
      /**
       * New names of fields, keyed by the upstream's names: `{ base_ccy: base }`.
       */
      rename?: {
        [k: string]: string;
      };
      /**
       * The field of the output that takes the whole answer. Needed where the upstream answers a list or a text.
       */
      wrap?: string;
      /**
       * The largest decompressed answer, in bytes; 1 MB by default. A larger one is 502, and not charged.
       */
      max_bytes?: number;
      /**
       * The condition under which an answer with a good status is a failure, which is not charged: `/error` (there, and neither false nor null), `/ok == false`, `/status != "ok"` (a missing field counts as null).
       */
      failed?: string;
      /**
       * A JSON Pointer to the text of such a failure, which the caller gets.
       */
      error?: string;
    };
    /**
     * Caches answers in the store. Cached answers are charged like others; the output's field `age_seconds` gives their age.
     */
    cache?: {
      /**
       * How long an answer is cached.
       */
      seconds: number;
      /**
       * The fields of the input on which the answer depends; all by default.
       */
      by?: string[];
    };
    /**
     * For upstreams that take an order and give the result later; only with `job`. `{/id}` in these requests is a part of the answer to `request`, by JSON Pointer.
     */
    poll?: {
      /**
       * The request that polls whether the work is done: `GET /v1/jobs/{/id}`. For 30 seconds, a 404 means that the upstream does not know the order yet, unless another answer came before.
       */
      request: string;
      /**
       * The condition under which it is done: `/status == "done"`, `/state in ["ok", "ready"]`, `/result` (there, and neither false nor null), or `status == 200` for the HTTP status.
       */
      done: string;
      /**
       * The condition under which it has failed, written like `done`: the job fails at once, and is refunded if `job.refund` says so.
       */
      failed?: string;
      /**
       * A JSON Pointer to the text of the failure, which the job's status shows.
       */
      error?: string;
      /**
       * The request for the result, if the answer that fulfils `done` does not contain it: `GET /v1/jobs/{/id}/result`.
       */
      result?: string;
      /**
       * The pause between two polls; 2 seconds by default. An upstream's `Retry-After` takes precedence.
       */
      seconds?: number;
    };
    /**
     * The id of the MCP server in `_site.yaml` whose tool is sold.
     */
    mcp?: string;
    /**
     * The name of the server's tool. Its arguments are the input.
     */
    tool?: string;
  };
  /**
   * The input: the name of a file in `schemas/` without `.json`, or an inline JSON Schema of `type: object`.
   */
  input: string | {};
  /**
   * The schema of the answer, written like `input`. A call whose answer does not fit is never charged. `{ media: image/png, max_bytes: 1048576 }` is a file: bytes over REST, an image or a resource over MCP, a file part over A2A.
   */
  output: string | {};
  /**
   * At most 5 words of at most 32 characters; directories find the service by them.
   */
  tags: string[];
  /**
   * One word; directories group services by it.
   */
  category?: string;
  /**
   * What agents may assume about a call; an omitted hint means unknown.
   */
  hints?: {
    /**
     * A call changes nothing. A paid service that says `false` must say `charge: first`.
     */
    readOnly?: boolean;
    /**
     * Repeating a call has no further effect.
     */
    idempotent?: boolean;
    /**
     * A call can destroy something.
     */
    destructive?: boolean;
    /**
     * A call uses other systems.
     */
    openWorld?: boolean;
  };
  /**
   * The handler's deadline; the site's `deadline_seconds` by default. A payment on Solana lives for about a minute: slower work needs `charge: first`, or is a job.
   */
  deadline_seconds?: number;
  /**
   * The largest JSON body, in bytes; the site's `body_bytes` by default. It must allow every example and the longest texts that the input's schema allows.
   */
  body_bytes?: number;
  /**
   * The environment variables that the plugin gets, e.g. `[WEATHER_API_KEY]`. It sees no others.
   */
  needs?: string[];
  /**
   * The ids of the sources in `_site.yaml` that the service reads. Its plugin gets no others.
   */
  upstreams?: string[];
  /**
   * For a service that uses the language model: the bounds of one question. A service that cannot work without the model also names `LLM_BASE_URL` under `needs`; without an endpoint it answers 503.
   */
  llm?: {
    /**
     * The longest answer, in the model's tokens.
     */
    max_tokens: number;
    /**
     * The timeout of one attempt.
     */
    timeout_seconds: number;
  };
  /**
   * For work that takes longer than a request: the call is accepted and paid, then runs as a job. The handler's output is the deliverable.
   */
  job?: {
    /**
     * `GET /path/{job_id}`: where the job is polled, free of charge.
     */
    status_route: string;
    /**
     * The expected duration that callers are told.
     */
    eta_seconds: number;
    /**
     * The timeout of one attempt.
     */
    deadline_seconds: number;
    /**
     * How many attempts may fail for transient reasons before the job has failed. One that a restart or crash cut off does not count, and is repeated, until a job has begun 25 times.
     */
    attempts: number;
    /**
     * How many of these jobs one process runs at the same time.
     */
    concurrency: number;
    /**
     * How many jobs may be queued, over all processes. Further calls get 503 and are not charged.
     */
    queue_limit: number;
    /**
     * Whether the price of a failed job is refunded: automatically for USDC on Base, by hand (`payphone refunds`) on other rails. With `false`, buyers are told so before they pay; jobs that you withdraw are refunded all the same.
     */
    refund: boolean;
  };
  /**
   * At least one example. Documentation and directories show them, and each must fit the schemas.
   */
  examples: {
    /**
     * An input of the service.
     */
    input: unknown;
    /**
     * A possible answer to it.
     */
    output?: unknown;
  }[];
}

/**
 * The credential to send with every request, if its variable is set.
 */
export interface UpstreamKey {
  /**
   * The name of the environment variable with the credential.
   */
  variable: string;
  /**
   * The HTTP header for the credential. Either `header` or `query` is set.
   */
  header?: string;
  /**
   * A word before the credential in the header: `Bearer`.
   */
  scheme?: "Bearer" | "Basic" | "Token" | "Key";
  /**
   * The query parameter for the credential.
   */
  query?: string;
}

/**
 * The settings for all services.
 */
export interface SiteManifest {
  /**
   * The site's name for machines: the first part of every signature domain, e.g. `payphone/roll/v1`. After a change, old signatures no longer verify.
   */
  name: string;
  /**
   * The site's name for people, in at most 32 ASCII characters.
   */
  title: string;
  /**
   * What the site sells, in at most 450 Latin-1 characters.
   */
  description: string;
  /**
   * The version of the machine-readable description (`info.version`).
   */
  version: string;
  /**
   * The version of the route catalog, in quotes: `"2.0"`.
   */
  catalog_version: string;
  /**
   * The contact for callers.
   */
  contact: {
    /**
     * A person or a company.
     */
    name: string;
    /**
     * Where the contact can be reached.
     */
    url: string;
  };
  /**
   * The ways of paying, in the order in which challenges offer them.
   */
  rails: {
    /**
     * The value of the option `--rail`, and the network's name in x402 version 1.
     */
    id: string;
    /**
     * Token and network for people, e.g. `USDC on Base`.
     */
    title: string;
    /**
     * The CAIP-2 name of the network, e.g. `eip155:8453` for Base.
     */
    network: string;
    /**
     * The token: an EVM contract's address, in quotes, or a Solana mint.
     */
    asset: string;
    /**
     * The token's short name, e.g. `USDC`.
     */
    symbol: string;
    /**
     * How many decimals the token has.
     */
    decimals: number;
    /**
     * The name of the environment variable that holds the receiving address.
     */
    pay_to: string;
    /**
     * The name of the environment variable that holds the chain's RPC URL.
     */
    rpc: string;
    /**
     * Who settles payments: `remote`, the HTTP facilitator that the environment names; `in-process`, payphone itself with the treasury's key (EVM only); or one of `facilitators`, or a list of several in the order of failover. Left out: all of `facilitators` that take the network, or `remote` where there are none.
     */
    facilitator?: string | string[];
    /**
     * The EIP-712 domain of the token's contract: required for EVM rails, not allowed for Solana.
     */
    domain?: {
      /**
       * The contract's value.
       */
      name: string;
      /**
       * The contract's value, in quotes: `"2"`.
       */
      version: string;
    };
    /**
     * `usd`: the token is a dollar. Any other currency (three letters, e.g. `jpy`, `eur`): amounts come from its tiers in `currencies`.
     */
    currency: string;
    /**
     * Whether the network is a test network, whose money is worthless. The rails of a set are all on test networks, or none is.
     */
    testnet?: boolean;
    /**
     * The page of a transaction in a block explorer: a URL with `{tx}` in it.
     */
    explorer: string;
    /**
     * The page of an address in the same explorer: a URL with `{address}` in it. When left out, addresses in reports are not linked.
     */
    explorer_address?: string;
    /**
     * The highest fee of one transaction of the treasury on this chain, in the chain's native coin and in quotes; `"0.001"` by default. EVM rails only.
     */
    max_fee?: string;
    /**
     * The smart wallets that payphone deploys with their first payment (ERC-6492); none by default. In-process rails only: elsewhere the facilitator decides.
     */
    smart_wallets?: {
      /**
       * The contracts that may be called to deploy a wallet: EVM addresses, in quotes.
       */
      factories: string[];
      /**
       * The most wallets that are deployed within 24 hours. The treasury pays for the gas, up to 700 000 each.
       */
      per_day: number;
    };
  }[];
  /**
   * HTTP facilitators by name. The first one that answers settles a rail; one that is down is skipped.
   */
  facilitators?: {
    /**
     * The name that rails list under `facilitator`.
     */
    id: string;
    /**
     * Its base URL, unless `variable` is set.
     */
    url?: string;
    /**
     * The name of the environment variable whose URL replaces `url`.
     */
    variable?: string;
    /**
     * The name of the environment variable with the headers of every request, as a JSON object.
     */
    headers?: string;
    /**
     * The CAIP-2 names of the networks that it settles on; all when left out.
     */
    networks?: string[];
  }[];
  /**
   * Fixed amounts in currencies other than the dollar, by currency: `{ eur: { tiers: { "0.01": "0.009" } } }`. Nothing is converted.
   */
  currencies?: {
    [k: string]: {
      /**
       * Amounts by price in dollars, both in quotes. A price that is not listed cannot be paid in this currency.
       */
      tiers: {
        [k: string]: string;
      };
    };
  };
  /**
   * The same as `currencies.jpy.tiers`: fixed yen amounts by price in dollars, both in quotes.
   */
  yen_tiers?: {
    [k: string]: string;
  };
  /**
   * The external sources that services read. Manifests name them by id.
   */
  upstreams?: {
    /**
     * The id that manifests list under `upstreams`.
     */
    id: string;
    /**
     * The source's name in errors and in `/ready`.
     */
    title: string;
    /**
     * The source's URL, unless `variable` is set. When left out, the variable must be set outside of sandboxes.
     */
    url?: string;
    /**
     * The name of the environment variable whose URL replaces `url`.
     */
    variable?: string;
    /**
     * For a JSON-RPC node: the CAIP-2 name of its chain. A sandbox uses its embedded chain of that name.
     */
    network?: string;
    /**
     * The credential to send with every request, if its variable is set.
     */
    key?: {
      /**
       * The name of the environment variable with the credential.
       */
      variable: string;
      /**
       * The HTTP header for the credential. Either `header` or `query` is set.
       */
      header?: string;
      /**
       * A word before the credential in the header: `Bearer`.
       */
      scheme?: "Bearer" | "Basic" | "Token" | "Key";
      /**
       * The query parameter for the credential.
       */
      query?: string;
    };
    /**
     * Further credentials, if the API requires several with every request; each is written like `key`.
     */
    keys?: UpstreamKey[];
    /**
     * For an MCP server, whose tools services sell with `proxy.mcp`: `http` for Streamable HTTP at `url`, `stdio` for a program that is started.
     */
    mcp?: "http" | "stdio";
    /**
     * With `mcp: stdio`: the program and its arguments. It is started at the first call, restarted after failures with growing pauses, and ended with payphone. All calls share it.
     */
    command?: string[];
    /**
     * With `mcp: stdio`: the environment variables that the program gets, besides `PATH`. It sees no others.
     */
    env?: string[];
    /**
     * With `mcp: stdio`: the most memory of the program and its child processes, on Linux; 512 by default. A program that uses more is ended.
     */
    memory_mb?: number;
    /**
     * With `mcp`: how many calls of the server's tools may run at once; 16 by default. Further calls wait.
     */
    calls?: number;
    /**
     * The timeout of one attempt; 5 by default, and 30 for a tool of an MCP server.
     */
    timeout_seconds?: number;
    /**
     * How often a failed attempt is retried; 2 by default. An MCP server has no retries: a call may do something.
     */
    retries?: number;
    /**
     * The circuit breaker: after `failures` failed requests in a row, the source is not asked for `seconds`. Then one request tries it. An MCP server has none: it is paused after each failure of its session.
     */
    breaker?: {
      /**
       * How many requests must fail in a row; 5 by default.
       */
      failures: number;
      /**
       * For how long it is not asked; 15 by default.
       */
      seconds: number;
    };
    /**
     * The source's rate limit, as a token bucket: requests, or calls of an MCP server's tools, above it wait. None by default.
     */
    rate?: {
      /**
       * Requests per second, for each process; may be a fraction.
       */
      per_second: number;
      /**
       * How many requests may be sent at once after a pause.
       */
      burst: number;
    };
  }[];
  /**
   * The shop's book of sales.
   */
  books?: {
    /**
     * How many days sales are kept. For ever when left out.
     */
    keep_days?: number;
    /**
     * The addresses of your own wallets: their payments are marked, and excluded from revenue. The treasury's addresses need not be listed.
     */
    own?: string[];
  };
  /**
   * How failed jobs are refunded automatically. When left out, all refunds are made by hand, with `payphone refunds`.
   */
  refunds?: {
    /**
     * The id of the rail whose payments are refunded automatically: an EVM rail whose token accepts EIP-3009 authorizations.
     */
    rail: string;
    /**
     * The id of the service that screens recipients: its input has `wallet` and needs nothing else, its output has `sanctions_match`.
     */
    screen: string;
  };
  /**
   * Wallets that may not buy: EVM addresses, in quotes and in any case, or Solana addresses. They get 403 `buyer-refused` and are not charged.
   */
  deny?: string[];
  /**
   * The only wallets that may buy, written as those of `deny`. When left out, all other wallets may.
   */
  allow?: string[];
  /**
   * A service of this set that screens each wallet before it may buy. When left out, wallets are not screened.
   */
  screen?: {
    /**
     * The id of the service: its input has `wallet` and needs nothing else, and it is not a job.
     */
    service: string;
    /**
     * Boolean fields of its answer, e.g. `sanctions_match`: a wallet is refused if one of them is true.
     */
    refuse: string[];
    /**
     * How long an answer about a wallet is cached; 24 hours by default.
     */
    cache_hours?: number;
  };
  /**
   * The receivers of events about sales, refunds and troubles, by signed HTTP requests (Standard Webhooks). None when left out.
   */
  webhooks?: {
    /**
     * A name for the receiver. Its waiting messages are kept under this name.
     */
    id: string;
    /**
     * The URL for its messages: https, or http on this machine. When left out, `variable` must be set.
     */
    url?: string;
    /**
     * The name of the environment variable whose URL replaces `url`.
     */
    variable?: string;
    /**
     * The name of the environment variable with the secret that signs the messages: `whsec_` and base64; during a rotation two, separated by a space.
     */
    secret: string;
    /**
     * The events that it gets; all by default.
     */
    events?: (
      | "sale"
      | "sale.reversed"
      | "sale.restored"
      | "refund"
      | "refund.manual"
      | "rail.down"
      | "facilitator.distrusted"
      | "job.failed"
    )[];
  }[];
  /**
   * The limits that keep the server available.
   */
  limits: {
    /**
     * How long an offer can be paid (`maxTimeoutSeconds` of x402).
     */
    offer_seconds: number;
    /**
     * The deadline of handlers whose manifest sets none.
     */
    deadline_seconds: number;
    /**
     * The largest JSON body, in bytes, of a service whose manifest sets none.
     */
    body_bytes: number;
    /**
     * How deeply a JSON body may be nested.
     */
    body_depth: number;
    /**
     * The longest URL.
     */
    url_bytes: number;
    /**
     * The largest head of a 402, in bytes; 3900 by default, because nginx with its default settings refuses answers with more than 4096. Directory entries in challenges are shortened to fit.
     */
    head_bytes?: number;
    /**
     * How many unpaid requests one client address may make per minute.
     */
    unpaid_per_minute: number;
    /**
     * How many of these may come at once.
     */
    unpaid_burst: number;
    /**
     * How many unsettled calls of one payer may be handled at once; 64 by default.
     */
    calls_per_payer?: number;
    /**
     * How long paid answers are kept, so that wallets that sign in, and payments with a `payment-identifier`, can fetch them again; 15 minutes by default, a day at most. They take space in the store.
     */
    answers_minutes?: number;
    /**
     * How many free calls (`free` in manifests) all wallets together get in a day (UTC), over all services; 1000 by default. So many wallets that sign in are screened in a day, too (`screen`); as many screenings that fail are not counted.
     */
    free_per_day?: number;
    /**
     * How much one wallet may buy, over all services and processes; 429 beyond it. Unlimited when left out.
     */
    per_payer?: {
      /**
       * How many paid calls it may begin in a minute. Fetching an answer again does not count.
       */
      calls_per_minute?: number;
      /**
       * How many US dollars it may spend in a day (UTC), in quotes.
       */
      usd_per_day?: string;
    };
    /**
     * From this price on, in US dollars (`"1"` by default), an answer waits until the chain shows its settlement. Cheaper ones are looked up soon after.
     */
    confirm_above_usd?: string;
  };
}
