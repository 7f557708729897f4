import { sanitizeHtmlBody } from '../html/sanitize-html-body.ts';
import type { WebhookFormat } from './endpoint-config.ts';
import { linkTo, type PayloadFacts } from './webhook-payload.ts';

/** `chat_a`: an incoming webhook of Discord; `chat_b`: one of Slack. */
export type ChatFormat = Exclude<WebhookFormat, 'native'>;

/**
 * Limits of Discord (Message Resource, "Embed Limits"; Webhook Resource, "Execute Webhook"). Characters; counted here as UTF-16 units,
 * which are never fewer than what Discord counts.
 */
export const DISCORD_LIMITS = {
  content: 2_000,
  title: 256,
  description: 4_096,
  fields: 25,
  fieldName: 256,
  fieldValue: 1_024,
  footer: 2_048,
  /** title, description, names and values of fields, and footer of all embeds of a message */
  all: 6_000,
} as const;

/** Limits of Slack (Block Kit reference: header, section, context, text object). Characters. */
export const SLACK_LIMITS = {
  /** above it the fallback may be cut (Slack, "Truncating really long messages") */
  text: 4_000,
  header: 150,
  section: 3_000,
  field: 2_000,
  fields: 10,
  contextElement: 2_000,
  blocks: 50,
} as const;

/** Shorter than Discord allows: a list of files must not take the room of the text. */
const MAX_LINE = 300;
const MAX_LISTED_FILES = 10;
const COLOUR = 0x0099ff;
const FOOTER = 'Postroom';
/** Characters in which text is looked for. */
const MAX_TEXT = 20_000;
/** Characters of HTML that an excerpt is made of, and of what is cleaned for it when no cleaned copy is stored. */
const MAX_HTML = 100_000;
const MAX_UNCLEANED_HTML = 20_000;

/**
 * The body of the request that tells a chat room of an email, as JSON text: sender, recipient, subject, time, text, attachments by name
 * and size, and a link to the whole message. Mail is shown and never acts: it mentions nobody, formats nothing, and has no links but
 * http(s) ones. Equal facts give equal bytes.
 */
export function buildChatPayload(format: ChatFormat, facts: PayloadFacts): string {
  const summary = summarize(facts);
  return JSON.stringify(format === 'chat_a' ? discordMessage(summary) : slackMessage(summary));
}

/** What is told, cleaned, not yet fitted. */
interface Summary {
  sender: string;
  /** name or address */
  senderName: string;
  recipient: string;
  subject: string;
  receivedAt: Date;
  excerpt: string;
  /** null when there are none */
  files: string | null;
  link: string;
}

function summarize(facts: PayloadFacts): Summary {
  const { email, content } = facts;
  const from = content.addresses.from?.addresses[0];
  const name = safeLine(from?.name ?? '');
  const address = safeLine(from?.address ?? '');
  const sender = isBlank(name) ? address : isBlank(address) ? name : `${name} <${address}>`;
  return {
    sender: orElse(sender, '(unknown sender)'),
    senderName: orElse(isBlank(name) ? address : name, '(unknown sender)'),
    recipient: orElse(safeLine(email.recipient), '(unknown recipient)'),
    subject: orElse(safeLine(email.subject), '(no subject)'),
    receivedAt: email.receivedAt,
    excerpt: orElse(safeText(textOf(content)), '(no text)'),
    files: content.attachments.length === 0 ? null : listFiles(content.attachments),
    link: linkTo(facts, 'raw'),
  };
}

/** The text without quoted mail; without text, that of the HTML. */
function textOf({ cleanedText, textBody, cleanedHtml, htmlBody }: PayloadFacts['content']): string {
  const text = [cleanedText, textBody].find((each) => each !== null && !isBlank(each.slice(0, MAX_TEXT)));
  if (text != null) return text;
  const html = cleanedHtml ?? (htmlBody === null ? null : sanitizeHtmlBody(htmlBody.slice(0, MAX_UNCLEANED_HTML)));
  if (html === null) return '';
  // Where a browser begins a line; all other white space is one space.
  const lines = html.slice(0, MAX_HTML).split(LINE_BREAK);
  return lines
    .map(lineOfHtml)
    .filter((line) => line !== '')
    .join('\n');
}

const LINE_BREAK = /<br[^<>]*>|<\/?(?:p|div|li|tr|table|h[1-6]|blockquote|pre|hr|ul|ol|dl|dt|dd|center)(?:\s[^<>]*)?>/i;

/** The text of sanitised HTML that holds no line break: its entities are these four. */
function lineOfHtml(html: string): string {
  return html
    .replace(/<\/?(?:td|th|img)(?:\s[^<>]*)?>/gi, ' ')
    .replace(/<[^<>]*(?:>|$)/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}

function listFiles(attachments: PayloadFacts['content']['attachments']): string {
  const listed = attachments
    .slice(0, MAX_LISTED_FILES)
    .map(({ filename, size }) => `${fitText(safeLine(filename), 80, plainPieces)} (${describeSize(size)})`);
  const more = attachments.length - listed.length;
  return [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function describeSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function discordMessage(summary: Summary) {
  const limits = DISCORD_LIMITS;
  const value = (text: string) => fitText(text, Math.min(limits.fieldValue, MAX_LINE), discordPiecesWithoutLinks);
  const title = fitText(summary.subject, limits.title, discordPiecesWithoutLinks);
  const link = `[Whole message, for 7 days](${summary.link})`;
  const fields = [
    { name: 'From', value: value(summary.sender), inline: true },
    { name: 'To', value: value(summary.recipient), inline: true },
    ...(summary.files === null
      ? []
      : [
          {
            name: 'Attachments',
            value: fitText(summary.files, limits.fieldValue, discordPiecesWithoutLinks),
            inline: false,
          },
        ]),
    ...(link.length > limits.fieldValue ? [] : [{ name: 'Link', value: link, inline: false }]),
  ];
  const taken = fields.reduce(
    (sum, field) => sum + field.name.length + field.value.length,
    title.length + FOOTER.length,
  );
  return {
    content: fitText(`📧 New email from ${summary.senderName}`, MAX_LINE, discordPiecesWithoutLinks),
    embeds: [
      {
        title,
        description: fitText(summary.excerpt, Math.min(limits.description, limits.all - taken), discordPieces),
        color: COLOUR,
        timestamp: summary.receivedAt.toISOString(),
        fields,
        footer: { text: FOOTER },
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

function slackMessage(summary: Summary) {
  const limits = SLACK_LIMITS;
  // Never `mrkdwn` for text of mail: it has no escape for its marks.
  const plain = (text: string, limit: number) => ({
    type: 'plain_text',
    text: fitText(text, limit, slackPieces),
    emoji: false,
  });
  const seconds = Math.floor(summary.receivedAt.getTime() / 1_000);
  const received = `<!date^${seconds}^{date_short_pretty} {time}|${summary.receivedAt.toISOString()}>`;
  const link = `<${summary.link}|Whole message> (for 7 days)`;
  return {
    text: fitText(`New email from ${summary.senderName}: ${summary.subject}`, MAX_LINE, slackPieces),
    blocks: [
      { type: 'header', text: plain(summary.subject, limits.header) },
      {
        type: 'section',
        fields: [plain(`From\n${summary.sender}`, limits.field), plain(`To\n${summary.recipient}`, limits.field)],
      },
      { type: 'section', text: plain(summary.excerpt, limits.section) },
      ...(summary.files === null
        ? []
        : [{ type: 'context', elements: [plain(`Attachments: ${summary.files}`, limits.contextElement)] }]),
      {
        type: 'context',
        elements: [
          { type: 'mrkdwn', text: received },
          ...(link.length > limits.contextElement ? [] : [{ type: 'mrkdwn', text: link }]),
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

function orElse(text: string, fallback: string): string {
  return isBlank(text) ? fallback : text;
}

/** Text of mail made fit for a chat message. `pieces` splits it where it may be cut, each piece written as the service wants it. */
type Pieces = (text: string) => Iterable<string>;

/** Characters that are looked at; every limit of a chat service is far below. */
const MAX_LOOKED_AT = 20_000;
/** UTF-16 units. What joins more marks into one character than any script does is cut within them. */
const LONGEST_GRAPHEME = 32;
const ELLIPSIS = '…';

/**
 * Text without what harms where it is shown: control characters, marks that turn the direction of writing (`gpj.exe` for `exe.jpg`),
 * invisible ones, lone surrogates. Line ends become line feeds, at most two in a row. Joiners stay, as emoji and scripts need them.
 */
function safeText(text: string): string {
  const front =
    text.length > MAX_LOOKED_AT ? `${text.slice(0, MAX_LOOKED_AT).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}` : text;
  return front
    .toWellFormed()
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(
      /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
      '',
    )
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** As {@link safeText}, in one line. */
function safeLine(text: string): string {
  return safeText(text).replace(/\s+/g, ' ');
}

/** Whether a reader would see nothing: chat services refuse such text, or show a gap. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u2800\u3164\uffa0]/u.test(text);
}

/**
 * The text in at most `limit` UTF-16 units (no service counts a character as more), with an ellipsis where it was cut. Characters that
 * readers see as one are never cut in two, nor are escapes.
 */
function fitText(text: string, limit: number, pieces: Pieces): string {
  let fitted = '';
  let safe = 0;
  for (const piece of pieces(text)) {
    fitted += piece;
    if (fitted.length > limit) return `${fitted.slice(0, safe).trimEnd()}${ELLIPSIS}`;
    if (fitted.length <= limit - ELLIPSIS.length) safe = fitted.length;
  }
  return fitted;
}

/** For fields that are shown as they are. */
const plainPieces: Pieces = graphemes;

/** Slack, "Formatting message text": three characters are escaped; nothing then is a mention, a link or a command. */
function* slackPieces(text: string): Iterable<string> {
  for (const piece of graphemes(text))
    yield piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Discord's markdown with nothing in it that acts: a backslash stands before whatever could. URLs of http and https stay as they are,
 * so that they can be followed, in pieces that are never cut; one that the limit cuts is no link any more.
 */
const discordPieces: Pieces = (text) => escapedForDiscord(text, LINK);

/** The same, in which nothing can be followed: URLs of a message's own text would be fetched and shown. */
const discordPiecesWithoutLinks: Pieces = (text) => escapedForDiscord(text, null);

/** What Discord takes for a URL begins so; of its characters only those that need no escape within. */
const LINK = /https?:\/\/[A-Za-z0-9._~:/?#@!$&'+,;=%-]+/gi;
const MAX_LINK_LENGTH = 500;
const ACTIVE = /[\\`*_~|<>[\]()@#]/g;

function* escapedForDiscord(text: string, link: RegExp | null): Iterable<string> {
  let at = 0;
  for (const match of link === null ? [] : text.matchAll(link)) {
    if (match[0].length > MAX_LINK_LENGTH) continue;
    yield* escapedPieces(text.slice(at, match.index), lineBefore(text, at));
    yield match[0];
    at = match.index + match[0].length;
  }
  yield* escapedPieces(text.slice(at), lineBefore(text, at));
}

function* escapedPieces(text: string, before: string): Iterable<string> {
  let line = before;
  let at = 0;
  for (const piece of graphemes(text)) {
    // Marks of lists count at the beginning of a line only.
    const isMark = /^[-+.]$/.test(piece) && /^\s*\d*$/.test(line);
    // A scheme without its colon is no link.
    const isScheme = piece === ':' && text[at + 1] === '/';
    yield isMark || isScheme ? `\\${piece}` : piece.replace(ACTIVE, '\\$&');
    line = piece.includes('\n') ? '' : line.length > 20 ? line : line + piece;
    at += piece.length;
  }
}

function lineBefore(text: string, at: number): string {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).slice(0, 21);
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function* graphemes(text: string): Iterable<string> {
  // Most text has nothing that could be joined; the line feeds of ours have no carriage return before them.
  if (/^[\n -~]*$/.test(text)) {
    yield* text;
    return;
  }
  for (const { segment } of segmenter.segment(text)) {
    if (segment.length <= LONGEST_GRAPHEME) yield segment;
    else yield* segment;
  }
}
