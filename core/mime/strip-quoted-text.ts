import EmailReplyParser from 'email-reply-parser';
import { storableText } from '../shared/text.ts';

/** Characters. What is longer is hardly a reply, and the reply parser's patterns are not linear. */
const MAX_PARSED_LENGTH = 50_000;
/** Characters. No line that introduces a quotation or a signature is longer. */
const MAX_LINE_LENGTH = 200;
/** Patterns of the reply parser that reach over lines start at these words; real mail holds few of them. */
const FAR_REACHING_WORDS =
  /^(?:Op\s|W\sdniu|Dnia\s|在|[a-z]{3,4}\.\s)|\sskrev\s|schreef|写道|(?:On|Le|El|Il|Em|Am|Den|pe|In)\s.*\n.*(?:wrote|[éi]t|schrieb|scritto|escreveu|skrev)/gm;
const MAX_FAR_REACHING_WORDS = 20;

/**
 * Words and marks without which the reply parser hides nothing; most mail holds none of them and is spared the parser, which costs as
 * much as all the rest of parsing a short message.
 */
const MAY_HIDE =
  /^[ \t]*>|^[ \t]*[-_+=]{2,4}[ \t]*$|^_{32}$|wrote|écrit|escribió|scritto|escreveu|schrieb|schreef|pisze|napisał|skrev|kirjoitti|写道|작성|のメッセージ| г\. в|>[ \t]*:|(?:from|von|de|van|da)\s?:|^sent from|gesendet|^sendt fra|get outlook|outlook pour|^cheers|^best wishes|regards|^envoyé|cordialement|^bien . vous|^bonne |^enviado|^verzonden|^verstuurd|original message|oprindelig|message d'origine|ursprüngliche|in data /im;

const parser = new EmailReplyParser();

/**
 * The text of a plain-text body as its author typed it: quoted mail and the signature are gone, unless nothing else is there. Texts
 * that are too long or too odd for the reply parser come back whole, without the white space at their ends.
 */
export function stripQuotedText(text: string): string {
  const whole = text.replaceAll('\r\n', '\n').trim();
  if (whole.length > MAX_PARSED_LENGTH || !MAY_HIDE.test(whole)) return whole;
  const longLines: string[] = [];
  const lines = whole.split('\n').map((line) => {
    if (line.length <= MAX_LINE_LENGTH) return line.trimEnd() === '--' ? '-- ' : line.trimEnd();
    longLines.push(line);
    // Kept at its place by a line that no pattern knows; a quotation stays one.
    return `${line.startsWith('>') ? '>' : ''}${LONG_LINE}${longLines.length - 1}`;
  });
  const narrow = lines.join('\n').replace(/\n{3,}/g, '\n\n');
  if ((narrow.match(FAR_REACHING_WORDS) ?? []).length > MAX_FAR_REACHING_WORDS) return whole;
  const visible = parser.parseReply(narrow).trim();
  if (visible === '') return whole;
  return storableText(visible.replace(LONG_LINE_MARK, (_, at: string) => longLines[Number(at)] ?? ''));
}

/** Private use: what stands for a line that is too long for the reply parser. */
const LONG_LINE = '\ue0ff\ue0fe';
const LONG_LINE_MARK = />?\ue0ff\ue0fe(\d+)/g;
