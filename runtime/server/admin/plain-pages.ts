import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Html, html } from "../../surfaces/pages/html.ts";

const STYLE = `
body { max-width: 34rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif; }
label, input { display: block; }
input { box-sizing: border-box; width: 100%; margin: .25rem 0 1rem; }
input, button { padding: .6rem .8rem; font: inherit; }
`;

/** These pages carry their own style, because the other pages' files need a sign-in. */
export const PLAIN_POLICY: string = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * A page that asks for the token.
 * @param isWrong whether a wrong token was given before
 * @param query of the requested page. The form repeats it in hidden fields, because a form replaces the query of its
 *   action.
 */
export const toSignInPage = (isWrong: boolean, query: URLSearchParams): string =>
  toPage(
    "sign in",
    html`<form>
${[...query].filter(([name]) => name !== "token").map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${isWrong && html`<p role="alert"><strong>That is not the token.</strong></p>`}
<label for="token">The token, which <code>payphone status --token</code> prints</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>`,
  );

/** A page for a request that has no answer. @param why a sentence */
export const toFaultPage = (why: string): string =>
  toPage(
    "no answer",
    html`<p>${why}.</p>
<p><a href="/">Today's page</a> leads to all others.</p>`,
  );

const toPage = (title: string, content: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>The books - ${title}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<h1>The books</h1>
${content}
</body>
</html>
`.markup;

/** Whether a browser asks for a page. */
export const asksForPage = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  headers.accept?.includes("text/html") === true;
