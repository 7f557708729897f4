import EmailReplyParser from 'email-reply-parser';
import { storableText } from '../shared/text.ts';

/** Maximum characters. Longer texts are rarely replies, and the reply parser is not linear. */
const MAX_PARSED_LENGTH = 50_000;
/** Maximum characters of a line that introduces a quotation or a signature. */
const MAX_LINE_LENGTH = 200;
/** Words that start multi-line patterns of the reply parser; real mail has few of them. */
const FAR_REACHING_WORDS =
  /^(?:Op\s|W\sdniu|Dnia\s|在|[a-z]{3,4}\.\s)|\sskrev\s|schreef|写道|(?:On|Le|El|Il|Em|Am|Den|pe|In)\s.*\n.*(?:wrote|[éi]t|schrieb|scritto|escreveu|skrev)/gm;
const MAX_FAR_REACHING_WORDS = 20;

/**
 * Words and marks without which the reply parser removes nothing, in lower case. Most mail has none and skips the parser, which costs as
 * much as the rest of parsing a short message. Beginnings of lines are apart from the rest: together they take twice as long.
 */
const MAY_HIDE_LINE =
  /^(?:[ \t]*>|[ \t]*[-_+=]{2,4}[ \t]*$|_{32}$|sent from|sendt fra|cheers|best wishes|envoyé|bien . vous|bonne |enviado|verzonden|verstuurd)/m;
const MAY_HIDE_WORD =
  /wrote|écrit|escribió|scritto|escreveu|schrieb|schreef|pisze|napisał|skrev|kirjoitti|写道|작성|のメッセージ| г\. в|>[ \t]*:|(?:from|von|de|van|da)\s?:|gesendet|get outlook|outlook pour|regards|cordialement|original message|oprindelig|message d'origine|ursprüngliche|in data /;

const parser = new EmailReplyParser();

/**
 * Returns a plain-text body without quoted mail and signature, unless nothing else remains. Texts that are too long or too unusual for
 * the reply parser are returned whole, trimmed.
 */
export function stripQuotedText(text: string): string {
  const whole = text.replaceAll('\r\n', '\n').trim();
  if (whole.length > MAX_PARSED_LENGTH || !mayHide(whole.toLowerCase())) return whole;
  const longLines: string[] = [];
  const lines = whole.split('\n').map((line) => {
    if (line.length <= MAX_LINE_LENGTH) return line.trimEnd() === '--' ? '-- ' : line.trimEnd();
    longLines.push(line);
    // A placeholder keeps the position of the line; a quoted line stays quoted.
    return `${line.startsWith('>') ? '>' : ''}${LONG_LINE}${longLines.length - 1}`;
  });
  const narrow = lines.join('\n').replace(/\n{3,}/g, '\n\n');
  if ((narrow.match(FAR_REACHING_WORDS) ?? []).length > MAX_FAR_REACHING_WORDS) return whole;
  const visible = parser.parseReply(narrow).trim();
  if (visible === '') return whole;
  return storableText(visible.replace(LONG_LINE_MARK, (_, at: string) => longLines[Number(at)] ?? ''));
}

function mayHide(lowerCase: string): boolean {
  return MAY_HIDE_LINE.test(lowerCase) || MAY_HIDE_WORD.test(lowerCase);
}

/** Private-use characters that mark a line too long for the reply parser. */
const LONG_LINE = '\ue0ff\ue0fe';
const LONG_LINE_MARK = />?\ue0ff\ue0fe(\d+)/g;
