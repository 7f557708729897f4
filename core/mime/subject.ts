/** Meaning of a marker at the start of a subject. */
type Marker = 'reply' | 'forward';

/**
 * Markers before the colon, in lower case. RFC 5256 §2.1 has `re`, `fw` and `fwd`; mail programs write the others in other languages.
 * `vs` is a forward in Danish and Norwegian and a reply in Finnish; it counts as a forward, which joins no threads by subject.
 */
const MARKERS: Record<Marker, readonly string[]> = {
  reply: [
    're',
    'aw', // German
    'antwort',
    'sv', // Swedish, Danish, Norwegian, Icelandic
    'antw', // Dutch
    'r', // Italian
    'rif',
    'ré', // French
    'réf',
    'res', // Portuguese
    'odp', // Polish
    'odg', // Croatian, Slovene
    'odpověď', // Czech, and the whole words that Notes writes
    'odpoveď',
    'odpowiedź',
    'odgovor',
    'svar',
    'antwoord',
    'vastaus',
    'válasz',
    'risposta',
    'respuesta',
    'resposta',
    'réponse',
    'răspuns',
    'yanıt',
    'cevap',
    'vá', // Hungarian
    'ynt', // Turkish
    'yan',
    'bls', // Indonesian
    'balas',
    'ats', // Lithuanian
    'atb', // Welsh
    'απ', // Greek
    'σχετ',
    'απαντ',
    'на', // Russian
    'отв',
    'ответ',
    'відп', // Ukrainian
    'відповідь',
    'отг', // Bulgarian
    'отговор',
    'השב', // Hebrew
    'תגובה',
    'תשובה',
    'vast', // Estonian
    'رد', // Arabic
    'پاسخ', // Persian
    'उत्तर', // Hindi
    'ตอบ', // Thai
    'ตอบกลับ',
    'trả lời', // Vietnamese
    '回复', // Chinese
    '回覆',
    '答复',
    '答覆',
    '返信', // Japanese
    '답장', // Korean
    '회신',
  ],
  forward: [
    'fw',
    'fwd',
    'wg', // German
    'vs',
    'vb', // Swedish
    'vl', // Finnish
    'doorst', // Dutch
    'rv', // Spanish
    'tr', // French
    'i', // Italian
    'enc', // Portuguese
    'pd', // Polish
    'fs', // Icelandic
    'ilt', // Turkish
    'i̇lt',
    'trs', // Indonesian
    'yml', // Welsh
    'továbbítás', // Hungarian
    'persiunt', // Lithuanian
    'edasi', // Estonian
    'proslj', // Croatian
    'posr', // Slovene
    'πρθ', // Greek
    'пересл', // Russian
    'переслано', // Ukrainian
    'препр', // Bulgarian
    'הועבר', // Hebrew
    'إعادة توجيه', // Arabic
    'ارسال', // Persian
    'ส่งต่อ', // Thai
    'chuyển tiếp', // Vietnamese
    '转发', // Chinese
    '轉寄',
    '转寄',
    '轉發',
    '転送', // Japanese
    '전달', // Korean
  ],
};

const KIND_OF_MARKER = new Map<string, Marker>([
  ...MARKERS.reply.map((marker) => [marker, 'reply'] as const),
  ...MARKERS.forward.map((marker) => [marker, 'forward'] as const),
]);
const LONGEST_MARKER = Math.max(...[...KIND_OF_MARKER.keys()].map((marker) => marker.length));

const FORWARD_HEADER = '[fwd:';
const FORWARD_TRAILER = ']';
const TRAILER = '(fwd)';

/** A range of a subject. All rules move its two ends, so the work is linear in the length of the subject. */
interface Span {
  text: string;
  start: number;
  end: number;
}

/**
 * Returns the subject without reply and forward markers, list tags and trailers (RFC 5256 §2.1, with the markers of other languages),
 * case preserved. Subjects that are equal except for case belong to the same thread. Empty when nothing else remains. Takes the decoded
 * subject.
 */
export function baseSubject(subject: string): string {
  const span = makeSpan(subject);
  do {
    cutTrailers(span);
    cutLeaders(span);
  } while (cutForwardWrapper(span));
  return span.text.slice(span.start, span.end);
}

/** Returns whether the outermost marker is one of a reply: `[list] Re: x`, `AW: x`. */
export function isReplySubject(subject: string): boolean {
  return outermostMarker(subject) === 'reply';
}

/** A marker for a forward or a reply, depending on the language; see MARKERS. */
const TWO_MEANINGS = 'vs';

/**
 * Removes leading reply markers (`AW: SV: [team] x` becomes `[team] x`); list tags and forward markers stay. `isPlain`: the markers were
 * all `Re` (`Re:`, `RE[2]:`), or there were none.
 */
export function splitReplyMarkers(subject: string): { rest: string; hasMarker: boolean; isPlain: boolean } {
  const span = makeSpan(subject);
  let tags = '';
  let [hasMarker, isPlain] = [false, true];
  for (;;) {
    cutSpace(span);
    const behindTags = blobEnds(span).at(-1) ?? span.start;
    const leader = markerAt(span, behindTags);
    if (leader === null || (leader.marker === 'forward' && leader.word !== TWO_MEANINGS))
      return { rest: tags + span.text.slice(span.start, span.end), hasMarker, isPlain };
    hasMarker = true;
    if (leader.word !== 're') isPlain = false;
    tags += span.text.slice(span.start, behindTags);
    span.start = leader.end;
  }
}

/** Returns whether the outermost marker is one of a forward: `Fwd: Re: x`, `[Fwd: x]`, `x (fwd)`. */
export function isForwardSubject(subject: string): boolean {
  return outermostMarker(subject) === 'forward';
}

function outermostMarker(subject: string): Marker | null {
  const span = makeSpan(subject);
  cutSpace(span);
  const blobs = blobEnds(span);
  const leader = markerAt(span, blobs.at(-1) ?? span.start);
  if (leader !== null) return leader.marker;
  const isWrapped = startsWith(span, blobs.at(-1) ?? span.start, FORWARD_HEADER) && endsWith(span, FORWARD_TRAILER);
  return isWrapped || endsWith(span, TRAILER) ? 'forward' : null;
}

function makeSpan(subject: string): Span {
  const text = subject.replace(/[\s\u00a0]+/g, ' ');
  return { text, start: 0, end: text.length };
}

function cutSpace(span: Span): void {
  while (span.start < span.end && span.text[span.start] === ' ') span.start++;
  while (span.end > span.start && span.text[span.end - 1] === ' ') span.end--;
}

/** Step 2: `subj-trailer = "(fwd)" / WSP`, repeatedly. */
function cutTrailers(span: Span): void {
  cutSpace(span);
  while (endsWith(span, TRAILER)) {
    span.end -= TRAILER.length;
    cutSpace(span);
  }
}

/** Steps 3 to 5: markers with the blobs before them; then blobs, unless nothing follows them. */
function cutLeaders(span: Span): void {
  for (;;) {
    cutSpace(span);
    const blobs = blobEnds(span);
    const leader = markerAt(span, blobs.at(-1) ?? span.start);
    if (leader === null) {
      span.start = blobs.findLast((end) => end < span.end) ?? span.start;
      return;
    }
    span.start = leader.end;
  }
}

/** Step 6: `[fwd: subject ]`. */
function cutForwardWrapper(span: Span): boolean {
  if (!startsWith(span, span.start, FORWARD_HEADER) || !endsWith(span, FORWARD_TRAILER)) return false;
  span.start += FORWARD_HEADER.length;
  span.end -= FORWARD_TRAILER.length;
  return true;
}

/** Returns the ends of the leading blobs `[...]`, including white space after them. */
function blobEnds(span: Span): number[] {
  const ends: number[] = [];
  let at = span.start;
  for (;;) {
    const end = endOfBlob(span, at);
    const isWrapper = end >= span.end && startsWith(span, at, FORWARD_HEADER);
    if (end === -1 || isWrapper) return ends;
    at = end;
    ends.push(at);
  }
}

function endOfBlob(span: Span, start: number): number {
  if (span.text[start] !== '[') return -1;
  for (let at = start + 1; at < span.end; at++) {
    if (span.text[at] === '[') return -1;
    if (span.text[at] === ']') return span.text[at + 1] === ' ' && at + 1 < span.end ? at + 2 : at + 1;
  }
  return -1;
}

/** `subj-refwd = marker *WSP [subj-blob] ":"`, also with a count such as `Re(2):` or `Re^2:`, or a full-width colon. */
function markerAt(span: Span, start: number): { marker: Marker; word: string; end: number } | null {
  const head = span.text.slice(start, Math.min(span.end, start + LONGEST_MARKER + 1));
  const word = /^[\p{L}\p{M}]+(?: (?:توجيه|lời|tiếp))?/iu.exec(head)?.[0];
  // Japanese programs write Latin letters of full width.
  const marker = word === undefined ? undefined : KIND_OF_MARKER.get(word.normalize('NFKC').toLowerCase());
  if (word === undefined || marker === undefined) return null;
  let at = start + word.length;
  if (span.text[at] === ' ') at++;
  COUNT.lastIndex = at;
  at += COUNT.exec(span.text)?.[0].length ?? 0;
  const blob = endOfBlob(span, at);
  if (blob !== -1) at = blob;
  const isColon = at < span.end && (span.text[at] === ':' || span.text[at] === '\uff1a');
  return isColon ? { marker, word: word.toLowerCase(), end: at + 1 } : null;
}

const COUNT = /\(\d{1,4}\) ?|\^\d{1,4} ?/y;

function startsWith(span: Span, at: number, text: string): boolean {
  return at + text.length <= span.end && span.text.slice(at, at + text.length).toLowerCase() === text;
}

function endsWith(span: Span, text: string): boolean {
  return span.end - text.length >= span.start && startsWith(span, span.end - text.length, text);
}
