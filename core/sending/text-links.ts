/** Labels at the end of host names that the public name system has, in lower case, as A-labels and as U-labels. */
export type TopLevelDomains = ReadonlySet<string>;

/** Characters of a text or HTML; longer ones count as having a link. */
export const MAX_SEARCHED_LENGTH = 1_000_000;
/** Characters of a link that an error repeats. */
const MAX_SHOWN_LENGTH = 100;

/**
 * Returns the first text that a mail program turns into a link, or that a browser opens as an address; null: none. These are addresses with a
 * scheme (`https://`, `https:`, `slack://`), `//host` and `\\host`, names with `www.`, IPv4 addresses, and host names whose last label is a
 * top-level domain. The text is read as it is and as browsers read host names (UTS #46): compatibility forms of letters and dots count as
 * those, and invisible characters as nothing. Mail addresses are no links, nor are names that only a person can complete (`example dot com`).
 * Takes linear time.
 */
export function findTextLink(text: string, topLevel: TopLevelDomains): string | null {
  for (const form of readableForms(text)) {
    const found = findExplicit(form) ?? findHost(form, topLevel);
    if (found !== null) return found;
  }
  return null;
}

/** As findTextLink, for text that no program completes to an address: only those with a scheme, `//`, `\\` or `www.` are found. */
export function findExplicitLink(text: string): string | null {
  for (const form of readableForms(text)) {
    const found = findExplicit(form);
    if (found !== null) return found;
  }
  return null;
}

/** Returns a link as an error repeats it. */
export function shownLink(link: string): string {
  const line = link.replace(/\p{Cc}+/gu, ' ').trim();
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…` : line;
}

const IGNORABLE = /\p{Default_Ignorable_Code_Point}+/gu;

/** The text as it is, and in those forms in which readers may see other words. */
function readableForms(text: string): ReadonlySet<string> {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return new Set([text]);
  const bare = text.replace(IGNORABLE, '');
  return new Set([text, bare, normalized(bare), normalized(text.replace(IGNORABLE, ' '))]);
}

/** Marks that follow each other, which take long to sort (UAX #15 §13), and Arabic ligatures of up to 18 letters. */
const MANY_MARKS = /\p{M}{30,}|[\ufdf0-\ufdff]+/gu;
const IDEOGRAPH = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}]';
/** After an ideograph it ends a sentence, unless an address goes on behind it. */
const IDEOGRAPHIC_DOT = new RegExp(`(?<!${IDEOGRAPH})[。｡]|[。｡](?=[a-z]{2,18}[/:])`, 'giu');

/** UTS #46 maps as NFKC does, and ideographic full stops to dots. */
function normalized(text: string): string {
  // Some programs see no mail address where the sign is another character.
  return text
    .replace(/[＠﹫]/g, ' ')
    .replace(MANY_MARKS, ' ')
    .replace(IDEOGRAPHIC_DOT, '.')
    .normalize('NFKC')
    .replace(IGNORABLE, '');
}

/**
 * Schemes that browsers and mail programs follow without `//`. Those of mail and telephone are links when they have more than an address or a
 * number.
 */
const SCHEMES =
  /(?<![\p{L}\p{N}_.+-])(?:(?:https?|ftps?|wss?|file|javascript|vbscript|livescript|blob|filesystem|view-source|intent|market|itms(?:-\w{2,8})?|ms-[a-z]{2,20}|skype|callto|facetime(?:-audio)?|sips?|xmpp|sms|smsto|mms|whatsapp|viber|tg|zoommtg|webcal|feed|magnet|bitcoin|ethereum|lightning|geo|maps|news|nntp|snews|gopher|ldaps?|ssh|sftp|telnet|rtsp|irc|ircs|imap|pop|urn|onenote|outlook|mid):[\p{L}\p{N}/\\?&@[%.~_*+-]|data:[a-z]+\/[a-z]|mailto:[^\s<>"]{0,320}[?&]|tel:[^\s<>"]{0,40}[?&])[^\s<>"]{0,200}/iu;
const ANY_SCHEME = /(?<![\p{L}\p{N}])[\p{L}][\p{L}\p{N}+.-]{0,30}:[/\\]{2}[^\s/\\][^\s<>"]{0,200}/u;
const WITHOUT_SCHEME = /(?<![\p{L}\p{N}_:/\\*])(?:\/\/|\\\\)[\p{L}\p{N}[][^\s<>"]{0,200}/u;
const WWW = /(?<![\p{L}\p{N}_.@-])(?:www\d{0,3}\.[\p{L}\p{N}]|ftp\.[\p{L}\p{N}-]{1,63}\.[\p{L}\p{N}])[^\s<>"]{0,200}/iu;

function findExplicit(text: string): string | null {
  for (const pattern of [ANY_SCHEME, SCHEMES, WITHOUT_SCHEME, WWW]) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return shownLink(found);
  }
  return null;
}

/** A name of labels, and all dots around it. */
const NAME = /[\p{L}\p{M}\p{Nd}\p{So}_.-]+/gu;

function findHost(text: string, topLevel: TopLevelDomains): string | null {
  for (const { 0: name, index } of text.matchAll(NAME)) {
    if (!name.includes('.') || isOfMailAddress(text, index, index + name.length)) continue;
    if (isAddressOfHost(name)) return shownLink(name);
    const labels = name.split('.');
    const at = labels.findIndex((label, place) => {
      const before = labels[place - 1];
      return (
        label.length > 1 && before !== undefined && isTopLevel(label, topLevel) && /[\p{L}\p{N}\p{So}]/u.test(before)
      );
    });
    if (at !== -1)
      return shownLink(
        labels
          .slice(0, at + 1)
          .join('.')
          .replace(/^\.+/, ''),
      );
  }
  return null;
}

/** `192.0.2.1` */
function isAddressOfHost(name: string): boolean {
  const numbers = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.?$/.exec(name)?.slice(1);
  return numbers?.every((number) => Number(number) <= 255) ?? false;
}

/** Programs end a name at a hyphen, or where another script begins: `example.com-based`, `example.com吧`, `example.xn--p1ai吧`. */
function isTopLevel(label: string, topLevel: TopLevelDomains): boolean {
  const lower = label.slice(0, MAX_LABEL_LENGTH + 1).toLowerCase();
  if (topLevel.has(lower)) return true;
  const start = /^(?:xn--[a-z\d-]*[a-z\d]|[a-z]{2,})(?![a-z\d])/.exec(lower)?.[0];
  return start !== undefined && topLevel.has(start);
}

const MAX_LABEL_LENGTH = 63;

/** Whether a name is the local part or the domain of a mail address, as programs find it. */
function isOfMailAddress(text: string, start: number, end: number): boolean {
  if (text[start - 1] === '@') return /[\p{L}\p{Nd}_+-]$/u.test(text.slice(Math.max(0, start - 3), start - 1));
  if (text[end] !== '@') return false;
  return /^@[\p{L}\p{Nd}-]{1,63}\.[\p{L}\p{Nd}]/u.test(text.slice(end, end + 130));
}
