// A client of `mores serve` without dependencies, for Node 18 or newer, Deno and Bun.
//
//   node client.mjs "In Japan people eat sushi with a fork." "…"
//
// MORES_URL is the address of the service (http://127.0.0.1:8010), MORES_KEY a key where it needs one.
// Exit code: 0 where all texts may be published, 3 where one has an error or could not be checked, 1 for a failure.

import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";

const LINES = "application/x-ndjson";

/** Yields the judgement of each text as soon as it is there; waits and tries again where the service is busy. */
export async function* judge(texts, { url = "http://127.0.0.1:8010", key, tries = 5, signal } = {}) {
  const headers = { "Content-Type": "application/json", Accept: LINES };
  if (key) headers.Authorization = `Bearer ${key}`;
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${url}/score`, { method: "POST", headers, body: JSON.stringify(texts), signal }).catch(
      (error) => {
        throw error.cause ? new Error(`${url} cannot be reached: ${error.cause.message || error.cause.code}`) : error;
      },
    );
    if (response.ok) {
      let missing = texts.length;
      for await (const judgement of lines(response.body)) {
        missing--;
        yield judgement;
      }
      if (missing) throw new Error(`the service stopped before ${missing} of ${texts.length} texts were judged`);
      return;
    }
    const problem = await response.text();
    if (![429, 503].includes(response.status) || attempt === tries) {
      throw new Error(`${url}/score answered ${response.status}: ${problem}`);
    }
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  }
}

/** Each line of a stream of bytes, as JSON; a line and even a letter may come in several pieces. */
async function* lines(stream) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const complete = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = complete.pop();
    yield* complete.map((line) => JSON.parse(line));
  }
  if (rest) throw new Error("the service stopped in the middle of an answer");
}

/** The words of an error in its text. Spans count Unicode code points, and JavaScript's strings do not. */
export function quoted(judgement, error) {
  return error.start === null ? error.quote : [...judgement[error.side]].slice(error.start, error.end).join("");
}

async function main(texts) {
  let publishable = true;
  const samples = texts.map((text, place) => ({ id: String(place + 1), text }));
  for await (const judgement of judge(samples, { url: process.env.MORES_URL, key: process.env.MORES_KEY })) {
    const { sample_id, failure, score, report } = judgement;
    if (failure) {
      console.log(`${sample_id}: not checked (${failure.kind}): ${failure.reason}`);
    } else {
      console.log(`${sample_id}: ${score}`);
      for (const error of report.errors) {
        console.log(`  ${error.severity}: “${quoted(judgement, error)}” ${error.explanation}`);
      }
    }
    publishable &&= !failure && report.errors.length === 0;
  }
  return publishable ? 0 : 3;
}

// The program, and not a module of another one: its address has no links in it, the argument may.
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(`error: ${error.message}`);
    process.exitCode = 1;
  }
}
