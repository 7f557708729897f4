import { addHtmlText } from '../sending/unseen-html.ts';
import { PieceList, type ReviewPiece } from '../sending/unseen-text.ts';
import { readAllText } from './all-text.ts';
import { readAttachedText } from './attached-text.ts';
import { findDifference } from './differing-parts.ts';
import { Effort } from './effort.ts';
import { findEncodedRequest } from './encoded-text.ts';
import { foldText } from './folded-text.ts';
import { findCarryingLink } from './link-data.ts';
import { type Reading, readInstructions } from './read-instructions.ts';
import {
  excerpt,
  type Injection,
  type InjectionFinding,
  MAX_EXCERPT_LENGTH,
  MAX_FINDINGS,
  type ScreenedMail,
  type ScreenedPart,
} from './screened-mail.ts';
import { isSeen } from './seen-text.ts';
import { type Survey, surveyText } from './survey-text.ts';
import { findUnseenCharacters } from './unseen-characters.ts';

/** Characters of a body that are screened at once. */
const STEP = 200_000;
/** Characters that a step has of the one before, so that no sentence is divided. */
const OVERLAP = 1_000;
/** Characters of each body, and of all attached texts together, that are screened. */
const MAX_SCREENED = 1_000_000;
/** Characters of the pieces of HTML. */
const MAX_PIECES = 400_000;
/** Characters of a folded step: compatibility forms of one character may have 18. */
const MAX_FOLDED = 3 * STEP;
/** Pictures and the like within HTML: they say nothing, and most long HTML consists of them. */
const INLINE_DATA = /\bdata:(?:image|font|audio|video)\/[^"'()<>\s]{500,}/g;

const CLEAR: Injection = { verdict: 'clear', findings: [] };

/**
 * Returns whether a person should look at a mail before an agent acts on it: text that a person does not see, parts that differ, instructions
 * to a machine, requests for secrets or money that leave no time, encoded instructions, and links that carry the mail's own data. Pure and
 * linear, with a limit for all sentences together; never throws.
 */
export function screenMail(mail: ScreenedMail): Injection {
  const findings: InjectionFinding[] = [];
  const add = (finding: InjectionFinding) => {
    const isKnown = findings.some(
      (each) => each.kind === finding.kind && each.part === finding.part && each.excerpt === finding.excerpt,
    );
    if (findings.length < MAX_FINDINGS && !isKnown) findings.push(finding);
  };
  const effort = new Effort();
  const to: Screening = { add, effort };
  /** the part in which too little of the effort was left */
  let spentIn: ScreenedPart | null = null;
  const noteSpent = (part: ScreenedPart) => {
    if (effort.isSpent) spentIn ??= part;
  };
  const wholeHtml = mail.html === null ? null : leaveOutData(mail.html);
  const text = mail.text?.slice(0, STEP) ?? null;
  const html = wholeHtml?.slice(0, STEP) ?? null;
  addLine('subject', mail.subject, to);
  for (const name of new Set([mail.senderName ?? '', ...(mail.otherNames ?? [])])) addLine('sender', name, to);
  noteSpent('sender');
  for (const name of mail.fileNames) addLine('attachment', name, to);
  const ofText = surveyStep(text ?? '', effort);
  if (text !== null) addText(text, ofText, to);
  noteSpent('text');
  const allText = html === null ? '' : readAllText(html);
  const ofHtml = surveyStep(allText, effort);
  if (html !== null) addHtml(html, allText, ofHtml, to);
  noteSpent('html');
  if (text !== null && html !== null) {
    const difference = findDifference({
      text: ofText,
      html: ofHtml,
      source: html.toLowerCase(),
      readSuffixes: mail.readSuffixes,
    });
    if (difference !== null)
      add({
        kind: 'different_parts',
        part: 'text',
        excerpt: excerpt(difference.excerpt),
        why: sentence(difference.why),
      });
  }
  addLink({ text, html, allText: `${text ?? ''}\n${allText}`, folded: `${ofText.folded}\n${ofHtml.folded}` }, to);
  if (mail.text !== null) addFurtherSteps('text', mail.text, to);
  noteSpent('text');
  if (wholeHtml !== null) addFurtherSteps('html', wholeHtml, to);
  noteSpent('html');
  addAttached(mail, to);
  noteSpent('attachment');
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- set by noteSpent()
  if (spentIn !== null)
    add({
      kind: 'not_screened',
      part: spentIn,
      excerpt: excerpt(effort.rest ?? ''),
      why: sentence('it says more than is screened of one email: this and what follows was not screened'),
    });
  return findings.length === 0 ? CLEAR : { verdict: 'review', findings };
}

/**
 * Screens the texts of attachments: behind the bodies, so that they take nothing from what is left for these. Says so when there is more than
 * is screened.
 */
function addAttached({ attachedTexts = [], attachedRest = null }: ScreenedMail, to: Screening): void {
  let left = MAX_SCREENED;
  let rest = attachedRest;
  for (const text of attachedTexts) {
    if (to.effort.isSpent) return;
    if (text.length > left) rest ??= text.slice(left);
    const read = readAttachedText(text.slice(0, left));
    left -= Math.min(left, text.length);
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- spent by the steps before
    for (let at = 0; at < read.length && !to.effort.isSpent; at += STEP)
      addAttachedStep(read.slice(Math.max(0, at - OVERLAP), at + STEP), to);
  }
  if (rest !== null && !to.effort.isSpent)
    to.add({
      kind: 'not_screened',
      part: 'attachment',
      excerpt: excerpt(rest.slice(0, 2 * MAX_EXCERPT_LENGTH)),
      why: sentence('it is more attached text than is screened, or no readable text'),
    });
}

function addAttachedStep(text: string, to: Screening): void {
  const survey = surveyStep(text, to.effort);
  addUnseen('attachment', text, to);
  addRequests('attachment', text, 'seen', to, survey);
  addEncoded('attachment', text, survey, to);
}

function leaveOutData(html: string): string {
  return html.length <= STEP ? html : html.replace(INLINE_DATA, 'data:');
}

/**
 * Screens what a body has behind the first step: as text that a person sees, since where HTML is hidden is only read in the first step. Says
 * so when it is too long for that, too.
 */
function addFurtherSteps(part: 'text' | 'html', body: string, to: Screening): void {
  const end = Math.min(body.length, MAX_SCREENED);
  for (let at = STEP; at < end && !to.effort.isSpent; at += STEP) {
    const step = body.slice(at - OVERLAP, Math.min(at + STEP, end));
    const text = part === 'html' ? readAllText(step) : step;
    const survey = surveyStep(text, to.effort);
    addUnseen(part, text, to);
    addRequests(part, text, 'seen', to, survey);
    addEncoded(part, step, survey, to);
    const [plain, html] = part === 'html' ? [null, step] : [step, null];
    addLink({ text: plain, html, allText: text, folded: survey.folded }, to);
  }
  if (body.length > MAX_SCREENED && !to.effort.isSpent)
    to.add({
      kind: 'not_screened',
      part,
      excerpt: excerpt(body.slice(MAX_SCREENED, MAX_SCREENED + 2 * MAX_EXCERPT_LENGTH)),
      why: sentence(`only the first ${MAX_SCREENED.toLocaleString('en-US')} characters were screened`),
    });
}

/** Returns the survey of a step, which a text that folding makes too long ends. */
function surveyStep(text: string, effort: Effort): Survey {
  const folded = foldText(text);
  if (folded.length > MAX_FOLDED) effort.spend(folded.slice(MAX_FOLDED));
  return surveyText(folded.slice(0, MAX_FOLDED));
}

interface Screening {
  add: (finding: InjectionFinding) => void;
  effort: Effort;
}

function addLine(part: ScreenedPart, line: string, to: Screening): void {
  if (line === '') return;
  addUnseen(part, line, to);
  addRequests(part, part === 'subject' ? line : line.replaceAll('_', ' '), 'seen', to);
}

/** Blank lines behind which a reader expects nothing. */
const GAP = /(?:[ \t\u00a0]*\r?\n){25}/;

function addText(text: string, survey: Survey, to: Screening): void {
  addUnseen('text', text, to);
  const gap = text.includes('\n\n\n\n\n\n') || text.includes('\n\r\n\r\n') ? GAP.exec(text) : null;
  if (gap === null) addRequests('text', text, 'seen', to, survey);
  else addRequests('text', text.slice(0, gap.index), 'seen', to);
  if (gap !== null) addHidden('text', text.slice(gap.index + gap[0].length), 'behind many blank lines', to);
  addEncoded('text', text, survey, to);
}

function addHtml(html: string, all: string, survey: Survey, to: Screening): void {
  addUnseen('html', all, to);
  addEncoded('html', html, survey, to);
  // Text that says nothing to a machine, wherever it is, needs no layout.
  const found = readInstructions(all, 'anywhere', to.effort, survey);
  if (found.length === 0) return;
  const list = new PieceList(MAX_PIECES);
  if (!addHtmlText(html, list) || list.isTruncated)
    return addUntold(readInstructions(all, 'hidden', to.effort, survey), to);
  const pieces = list.pieces;
  const seen = pieces.filter((piece) => isSeen(piece) || isMark(piece));
  addRequests('html', seen.map(({ text }) => text).join(''), 'seen', to);
  for (const { text, detail, reading } of hiddenRuns(pieces)) addHidden('html', text, detail, to, reading);
}

/** Returns whether a piece marks a place and has no text of its own. */
function isMark({ unseen }: ReviewPiece): boolean {
  return unseen?.kind === 'gap' || unseen?.kind === 'invisible_characters';
}

interface HiddenRun {
  text: string;
  detail: string;
  reading: Reading;
}

/** Returns the hidden pieces, those hidden for one reason as one text, and apart those before all that is seen. */
function hiddenRuns(pieces: readonly ReviewPiece[]): HiddenRun[] {
  const runs = new Map<string, HiddenRun>();
  let isBefore = true;
  for (const piece of pieces) {
    const { text, unseen } = piece;
    if (isSeen(piece) && text.trim() !== '') isBefore = false;
    if (unseen === null || unseen.kind === 'collapsed' || isMark(piece)) continue;
    const { kind, detail } = unseen;
    const isLabel = kind === 'comment' || kind === 'attribute';
    const reading = isLabel ? 'label' : isBefore ? 'preheader' : 'hidden';
    const key = `${reading} ${detail}`;
    const run = runs.get(key);
    if (run === undefined) runs.set(key, { text, detail, reading });
    else run.text += text;
  }
  return [...runs.values()];
}

function addHidden(part: ScreenedPart, text: string, detail: string, to: Screening, reading: Reading = 'hidden'): void {
  for (const { excerpt: found, why } of readInstructions(text, reading, to.effort))
    to.add({
      kind: 'hidden_text',
      part,
      excerpt: excerpt(found),
      why: sentence(`a person does not see this text (${detail}), and ${why}`),
    });
}

/** Adds what is said in HTML of which too much is hidden here and there, or nested, to tell what a person sees. */
function addUntold(found: ReturnType<typeof readInstructions>, to: Screening): void {
  for (const { excerpt: words, why } of found)
    to.add({
      kind: 'hidden_text',
      part: 'html',
      excerpt: excerpt(words),
      why: sentence(`the HTML is too intricate to be wholly read, so a person may not see this text, and ${why}`),
    });
}

function addRequests(part: ScreenedPart, text: string, reading: Reading, to: Screening, survey?: Survey): void {
  for (const { kind, excerpt: found, why } of readInstructions(text, reading, to.effort, survey))
    to.add({ kind, part, excerpt: excerpt(found), why: sentence(why) });
}

function addLink(parts: Parameters<typeof findCarryingLink>[0], to: Screening): void {
  const link = findCarryingLink(parts);
  if (link !== null)
    to.add({
      kind: 'link_data',
      part: parts.html === null ? 'text' : 'html',
      excerpt: excerpt(link.excerpt),
      why: sentence(link.why),
    });
}

function addUnseen(part: ScreenedPart, text: string, to: Screening): void {
  const unseen = findUnseenCharacters(text);
  if (unseen !== null)
    to.add({ kind: 'hidden_text', part, excerpt: excerpt(unseen.excerpt), why: sentence(unseen.why) });
}

function addEncoded(part: ScreenedPart, text: string, survey: Survey, to: Screening): void {
  const encoded = findEncodedRequest(text, survey, to.effort, part === 'html');
  if (encoded !== null)
    to.add({
      kind: 'encoded_text',
      part,
      excerpt: excerpt(encoded.excerpt),
      why: sentence(`text in ${encoded.encoding} says this, and ${encoded.why}`),
    });
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
