import { expect } from "chai";
import { readHtml } from "../../../plugins/tldr/html.ts";

const read = (title: string, body: string, head = "") =>
  readHtml(`<html><head><title>${title}</title>${head}</head><body>${body}</body></html>`, "https://one.example/page");
const LONG = "The committee met on Tuesday, agreed on the budget and will present it in spring. ".repeat(8);

/** What sites answer with status 200 in place of a page. */
const GUARDS: Readonly<Record<string, readonly [title: string, body: string]>> = {
  "a check of Cloudflare": [
    "Just a moment...",
    "<h1>one.example</h1><p>one.example needs to review the security of your connection before proceeding.</p>",
  ],
  "a block of Cloudflare": [
    "Attention Required! | Cloudflare",
    "<h1>Sorry, you have been blocked</h1><p>You are unable to access one.example</p>",
  ],
  "a refusal of Akamai": ["Access Denied", "<h1>Access Denied</h1>You don't have permission to access this server."],
  "a check of hands": ["one.example", "<h1>Press & Hold to confirm you are a human (and not a bot).</h1>"],
  "a riddle": [
    "Robot Check",
    "<p>Enter the characters you see below</p><p>we need to make sure you're not a robot</p>",
  ],
  "a cookie wall": ["Before you continue", "<h1>Before you continue to Example</h1><p>We use cookies and data.</p>"],
  "a missing page": ["Page not found", "<h1>404</h1><p>The page you are looking for does not exist.</p>"],
  "a redirect of its own": ["Redirecting", '<p>Redirecting to <a href="/new">/new</a></p>'],
  "an old browser's notice": ["X", "<h1>Your browser is not supported</h1><p>Please upgrade.</p>"],
  "an old browser's notice in German": [
    "Wie man eine Tischdecke näht",
    "<p>Dein Browser ist leider veraltet.</p><p>Lade für ein besseres Erlebnis einen neueren Browser kostenfrei herunter.</p>",
  ],
  "an old browser's notice in French": ["Journal", "<p>Votre navigateur n'est plus pris en charge.</p>"],
  "an outdated browser's notice": [
    "X",
    "<p>You are using an <b>outdated</b> browser. Please upgrade your browser.</p>",
  ],
  "a browser's notice with a date": ["X", "<h1>Your browser is out of date</h1><p>Update it to see the page.</p>"],
  "a closed account": ["Account Suspended", "<h1>This Account has been suspended.</h1>"],
  "a check of Imperva": [
    "Pardon Our Interruption",
    "<h1>Pardon Our Interruption</h1><p>As you were browsing, something about your browser made us think you were a bot.</p>",
  ],
  "a refusal of Incapsula": ["", "<p>Request unsuccessful. Incapsula incident ID: 893000110-17</p>"],
  "a refusal of F5": [
    "Request Rejected",
    "<p>The requested URL was rejected. Please consult with your administrator. Your support ID is: 4182</p>",
  ],
  "a missing page of WordPress": [
    "Example",
    "<h1>Oops! That page can’t be found.</h1><p>It looks like nothing was found at this location.</p>",
  ],
  "a missing page in French": ["Le journal", "<h1>Page introuvable</h1><p>La page demandée n'existe plus.</p>"],
  "a missing page in Spanish": ["Página no encontrada", "<p>Lo sentimos.</p>"],
  "a missing page in Japanese": ["新聞", "<p>お探しのページは見つかりませんでした。</p>"],
  "a missing page of a Japanese paper": ["新聞", "<p>お探しのページは存在しません。</p>"],
  "an article that is no longer shown": ["新聞", "<p>この記事は掲載期間が終了しました。</p>"],
  "a check for humans in Japanese": ["確認", "<p>あなたがロボットではないことを確認してください。</p>"],
  "a refusal in Japanese": ["エラー", "<h1>アクセスが拒否されました</h1>"],
  "a crowd before a Japanese site": ["エラー", "<p>アクセスが集中しております。しばらくお待ちください。</p>"],
  "a pause for work on a Japanese site": ["お知らせ", "<p>ただいまシステムメンテナンス中です。</p>"],
  "an old browser's notice in Japanese": ["店", "<p>お使いのブラウザはサポートされていません。</p>"],
  "a wall before a login in Japanese": ["会員の頁", "<p>閲覧にはログインが必要です。</p>"],
  "a form to sign in in Japanese": [
    "ログイン",
    '<h1>ログイン</h1><form><input type="email"><input type="password"></form><p>パスワードをお忘れの方</p>',
  ],
  "a redirect of a Japanese site": ["移転", "<p>自動的に移動しない場合はこちらをクリックしてください。</p>"],
  "a post that is gone": ["Example", "<h1>Sorry, this page isn't available.</h1><p>The link may be broken.</p>"],
  "a refusal by law": [
    "451",
    "<p>You are attempting to access this website from a country where access cannot be granted at this time.</p>",
  ],
  "a wall before a login": ["Example", "<h1>Welcome back</h1><p>You must log in to continue.</p>"],
  "a wall before a payment": ["A long story", "<h1>A long story</h1><p>Subscribe to continue reading.</p>"],
  "a failure of its server": ["Error", "<h1>Internal Server Error</h1><p>The server encountered an error.</p>"],
  "a failure of its database": ["Database Error", "<h1>Error establishing a database connection</h1>"],
  "a pause for work on it": ["Example", "<p>The site is currently under maintenance. Please come back later.</p>"],
};

/** How sites end the beginning of an article whose rest is for subscribers. */
const WALLS = [
  '<div class="paywall"><h2>This post is for paid subscribers</h2><a href="/sign-in">Sign in</a></div>',
  "<h2>Create an account to read the full story.</h2><p>The author made this story available to Medium members only.</p>",
  '<div class="barrier"><h2>Subscribe to unlock this article</h2><p>Only $1 for 4 weeks.</p></div>',
  "<p>Subscribe to continue reading</p>",
  "<p>Keep reading with a 7-day free trial</p>",
  "<p>This is a preview of subscription content, access via your institution</p>",
  "<p>You've reached your limit of free articles.</p>",
  "<p>この記事は有料会員限定です。登録すると続きをお読みいただけます。</p>",
  "<p>この記事は有料記事です。残り862文字（全文1234文字）</p>",
  "<p>この続きをみるには</p><p>この記事のみ 300円</p>",
];
const PAID = '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false}</script>';

describe("the beginning of a text that is for subscribers", () => {
  const shown = (count: number): string => `<article><h1>The budget</h1>${`<p>${LONG}</p>`.repeat(count)}</article>`;

  for (const wall of WALLS)
    it(`is not summarized, where it ends with ${wall}`, async () => {
      expect(await read("The budget", shown(1) + wall)).to.include({ isPart: true });
      expect(await read("The budget", shown(9) + wall, PAID)).to.include({ isPart: true });
    });

  it("is not summarized where the site marks it for search engines, in any language", async () => {
    expect(await read("Der Haushalt", `${shown(1)}<p>Weiterlesen mit dem Abo.</p>`, PAID)).to.include({ isPart: true });
  });

  it("is told from a whole text of a site that sells some", async () => {
    const body = shown(9).replaceAll(/<[^>]*>/g, "");
    const whole = `<script type="application/ld+json">{"isAccessibleForFree":false,"articleBody":"${body}"}</script>`;
    const pages = [
      [shown(9), PAID],
      [shown(9) + WALLS[3]],
      [shown(1) + WALLS[3], whole],
      [`<header>${WALLS[3]}</header>${shown(1)}<div hidden>${WALLS[0]}</div>`],
      [`${shown(1)}<p>Subscribe to our newsletter. Sign in to comment. Read this article in Spanish.</p>`],
    ] as const;
    for (const [page, head] of pages) expect(await read("The budget", page, head), page).to.include({ isPart: false });
  });
});

describe("what a site shows in place of a page", () => {
  for (const [what, [title, body]] of Object.entries(GUARDS))
    it(`is not summarized: ${what}`, async () => {
      expect(await read(title, body)).to.include({ isGuarded: true });
    });

  it("is not summarized: a page that leads elsewhere by itself", async () => {
    const refresh = `<meta http-equiv="Refresh" content="0; url=/en/latest/">`;
    const body = '<p>The documentation is <a href="/en/latest/">over there</a>.</p>';
    expect(await read("Docs", body, refresh)).to.include({ isGuarded: true });
    const whole = `<article><h1>Docs</h1><p>${LONG}</p></article>`;
    const others = [
      [body, '<meta http-equiv="refresh" content="300">'],
      [body, `<noscript>${refresh}</noscript>`],
      [whole, refresh],
    ] as const;
    for (const [text, head] of others) expect(await read("Docs", text, head), head).to.include({ isGuarded: false });
  });

  it("is not summarized: a form to sign in, however many languages it lists", async () => {
    const form = '<form><input type="email"><input type="password"></form><p>Forgot email? Create an account</p>';
    const languages = `<ul>${"<li>English (United Kingdom)</li>".repeat(50)}</ul>`;
    expect(
      await read("Sign in - Accounts", `<h1>Sign in</h1><p>to continue to Docs</p>${form}${languages}`),
    ).to.include({
      isGuarded: true,
    });
    expect(await read("Join us", `<p>Already a member? Sign in</p>${form}`)).to.include({ isGuarded: true });
    const article = `<article><h1>The budget</h1><p>${LONG}</p><p>Sign in to comment.</p></article>`;
    expect(await read("The budget", `${article}${form}`), "a form beside an article").to.include({ isGuarded: false });
  });

  it("is not summarized: a title above a text in a frame or a field", async () => {
    const frames = [
      '<iframe src="/handbook.html"></iframe>',
      '<embed src="a.pdf">',
      `<textarea readonly>${LONG}</textarea>`,
    ];
    for (const frame of frames)
      expect(await read("Handbook", `<h1>The handbook</h1>${frame}`), frame).to.include({ isFramed: true });
    const others = [
      `<article><p>${LONG}</p></article>${frames[0]}`,
      `<p>The shop is closed.</p><noscript>${frames[0]}</noscript>`,
      "<p>The shop is closed.</p><form><textarea></textarea></form>",
    ];
    for (const page of others) expect(await read("Handbook", page), page).to.include({ isFramed: false });
  });

  it("needs scripts where it says so in short", async () => {
    const body = "<p>Please enable JS and try again</p><script>var dd = {}</script>";
    expect(await read("one.example", body)).to.include({ needsScripts: true });
    const japanese = ["<p>JavaScriptを有効にしてください。</p>", "<p>JavaScript が無効になっています。</p>"];
    for (const notice of japanese) expect(await read("店", notice), notice).to.include({ needsScripts: true });
  });

  it("is a page where it only speaks of such things, or is short", async () => {
    const pages = [
      ["How we fight robots", `<article><h1>Are you a robot?</h1><p>${LONG}</p></article>`],
      ["404 ways to cook rice", `<article><h1>404 ways to cook rice</h1><p>${LONG}</p></article>`],
      ["Notice", "<p>The shop is closed on Monday.</p>"],
      ["速報", "<p>チケットの店にアクセスが集中した。国外のサイトへのアクセスは制限され、問題の記事は削除された。</p>"],
      ["お知らせ", "<p>設備のメンテナンスを行うため休業した。このアプリは主なブラウザーに対応しています。</p>"],
      [
        "Buses",
        "<p>The bus service is unavailable on Sunday: visitors must sign in at the desk, and registration is required.</p>",
      ],
    ] as const;
    for (const [title, body] of pages)
      expect(await read(title, body), title).to.include({ isGuarded: false, needsScripts: false });
  });
});
