/** Octets that the parts of a payload take in its JSON text, each as often as it stands there. */
export interface PayloadSizes {
  /** what is always sent: every key, and all values but those below */
  fixed: number;
  /** contents of attachments in base64, in the order of the message */
  contents: readonly number[];
  raw: number;
  html: number;
  text: number;
  headers: number;
}

/** What a payload leaves out to stay within its budget, in the order in which parts give way. */
export type GivenWay = 'attachments' | 'raw' | 'html' | 'text' | 'headers';

export interface PayloadPlan {
  /** places in `contents` of those that are sent */
  contents: ReadonlySet<number>;
  hasRaw: boolean;
  hasHtml: boolean;
  /** octets that the texts may take; null: they are whole */
  textOctets: number | null;
  hasHeaders: boolean;
  givenWay: GivenWay[];
}

/**
 * Decides what of a payload is sent within so many octets. Contents of attachments give way first, the largest first and only as many
 * as must, so that an invoice of some kilobytes still comes along beside a film; then the raw message, the HTML, the text, which is
 * cut rather than dropped, and at last the header fields. What is `fixed` always goes: a budget below it is exceeded.
 */
export function planPayload(budget: number, sizes: PayloadSizes): PayloadPlan {
  const contents = new Set(sizes.contents.keys());
  const plan = { hasRaw: true, hasHtml: true, textOctets: null as number | null, hasHeaders: true };
  const givenWay: GivenWay[] = [];
  let total = sizes.fixed + sizes.raw + sizes.html + sizes.text + sizes.headers;
  for (const size of sizes.contents) total += size;

  for (const [place, size] of [...sizes.contents.entries()].toSorted(largestFirst)) {
    if (total <= budget) break;
    contents.delete(place);
    total -= size;
    if (givenWay.length === 0) givenWay.push('attachments');
  }
  if (total > budget && sizes.raw > 0) {
    plan.hasRaw = false;
    total -= sizes.raw;
    givenWay.push('raw');
  }
  if (total > budget && sizes.html > 0) {
    plan.hasHtml = false;
    total -= sizes.html;
    givenWay.push('html');
  }
  if (total > budget && sizes.text > 0) {
    plan.textOctets = Math.max(0, budget - (total - sizes.text));
    total -= sizes.text - plan.textOctets;
    givenWay.push('text');
  }
  if (total > budget && sizes.headers > 0) {
    plan.hasHeaders = false;
    givenWay.push('headers');
  }
  return { contents, ...plan, givenWay };
}

/** Of equals the later one first. */
function largestFirst([placeA, a]: [number, number], [placeB, b]: [number, number]): number {
  return b - a || placeB - placeA;
}

/** Octets of the text as a JSON string in UTF-8, without its quotation marks. */
export function jsonOctets(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** The longest beginning of a text that takes at most so many octets in JSON; a surrogate pair is never cut in two. */
export function cutToJsonOctets(text: string, limit: number): string {
  let octets = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    octets += octetsOf(point);
    if (octets > limit) return text.slice(0, at);
    at += point > 0xffff ? 2 : 1;
  }
  return text;
}

/** ECMA-404 §9 as JSON.stringify writes it: lone surrogates are escaped. */
function octetsOf(point: number): number {
  if (point < 0x20) return SHORT_ESCAPES.has(point) ? 2 : 6;
  if (point === 0x22 || point === 0x5c) return 2;
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  if (point >= 0xd800 && point <= 0xdfff) return 6;
  return point > 0xffff ? 4 : 3;
}

/** \b \t \n \f \r */
const SHORT_ESCAPES = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
