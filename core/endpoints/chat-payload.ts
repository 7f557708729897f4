import { sanitizeHtmlBody } from '../html/sanitize-html.ts';
import type { WebhookFormat } from './endpoint-config.ts';
import { linkTo, type PayloadFacts } from './payload-facts.ts';

/** `chat_a`: an incoming webhook of Discord; `chat_b`: one of Slack. */
export type ChatFormat = Exclude<WebhookFormat, 'native'>;

/**
 * Limits of Discord (Message Resource, "Embed Limits"; Webhook Resource, "Execute Webhook"). Characters; we count UTF-16 units, which is
 * never less than Discord's count.
 */
export const DISCORD_LIMITS = {
  content: 2_000,
  title: 256,
  description: 4_096,
  fields: 25,
  fieldName: 256,
  fieldValue: 1_024,
  footer: 2_048,
  /** total of title, description, names and values of fields, and footer over all embeds of a message */
  all: 6_000,
} as const;

/** Limits of Slack (Block Kit reference: header, section, context, text object). Characters. */
export const SLACK_LIMITS = {
  /** a longer fallback may be cut (Slack, "Truncating really long messages") */
  text: 4_000,
  header: 150,
  section: 3_000,
  field: 2_000,
  fields: 10,
  contextElement: 2_000,
  blocks: 50,
} as const;

/** Shorter than Discord allows, so that a list of files leaves room for the text. */
const MAX_LINE = 300;
const MAX_LISTED_FILES = 10;
const COLOUR = 0x0099ff;
const FOOTER = 'Postroom';
/** Maximum characters of text that is read. */
const MAX_TEXT = 20_000;
/** Maximum characters of HTML for an excerpt, and of HTML that is cleaned when no cleaned copy is stored. */
const MAX_HTML = 100_000;
const MAX_UNCLEANED_HTML = 20_000;

/**
 * Returns the request body that announces an email in a chat channel, as JSON text: sender, recipient, subject, time, text, names and
 * sizes of attachments, and a link to the whole message. The mail's text is shown inert: it mentions no one, formats nothing, and
 * contains only http(s) links. Equal facts give equal bytes.
 */
export function buildChatPayload(format: ChatFormat, facts: PayloadFacts): string {
  const summary = summarize(facts);
  return JSON.stringify(format === 'chat_a' ? discordMessage(summary) : slackMessage(summary));
}

/** What a chat message about an event says. */
export interface EventMessage {
  /** what happened, in a sentence of ours */
  title: string;
  at: Date;
  /** a longer text, such as the reply of a server; null: none */
  detail: string | null;
  fields: readonly { name: string; value: string }[];
  /** to the subject in the dashboard; null: it has no page */
  link: string | null;
}

/** Returns the request body that announces an event in a chat channel, as JSON text. All text but the title may come from mail. */
export function buildEventChatPayload(format: ChatFormat, message: EventMessage): string {
  const clean = {
    ...message,
    detail: message.detail === null ? null : orElse(safeText(message.detail), '(no text)'),
    fields: message.fields
      .map(({ name, value }) => ({ name, value: safeLine(value) }))
      .filter(({ value }) => !isBlank(value))
      .slice(0, MAX_EVENT_FIELDS),
  };
  return JSON.stringify(format === 'chat_a' ? discordEvent(clean) : slackEvent(clean));
}

const MAX_EVENT_FIELDS = 8;

function discordEvent({ title, at, detail, fields, link }: EventMessage) {
  const limits = DISCORD_LIMITS;
  const shown = fields.map(({ name, value }) => ({
    name,
    value: fitText(value, MAX_LINE, discordPiecesWithoutLinks),
    inline: true,
  }));
  return {
    content: fitText(title, MAX_LINE, discordPiecesWithoutLinks),
    embeds: [
      {
        title: fitText(title, limits.title, discordPiecesWithoutLinks),
        ...(detail === null ? {} : { description: fitText(detail, MAX_DETAIL, discordPieces) }),
        color: COLOUR,
        timestamp: at.toISOString(),
        fields: [
          ...shown,
          ...(link === null ? [] : [{ name: 'Link', value: `[Open in Postroom](${link})`, inline: false }]),
        ],
        footer: { text: FOOTER },
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

/** Characters; leaves room for the fields within the limit of all text. */
const MAX_DETAIL = 2_000;

function slackEvent({ title, at, detail, fields, link }: EventMessage) {
  const limits = SLACK_LIMITS;
  const plain = (text: string, limit: number) => ({
    type: 'plain_text',
    text: fitText(text, limit, slackPieces),
    emoji: false,
  });
  const seconds = Math.floor(at.getTime() / 1_000);
  const happened = `<!date^${seconds}^{date_short_pretty} {time}|${at.toISOString()}>`;
  const summary = [title, ...fields.slice(0, 2).map(({ name, value }) => `${name}: ${value}`)].join(' ');
  return {
    text: fitText(summary, MAX_LINE, slackPieces),
    blocks: [
      { type: 'header', text: plain(title, limits.header) },
      ...(fields.length === 0
        ? []
        : [
            {
              type: 'section',
              fields: fields.map(({ name, value }) => plain(`${name}\n${value}`, limits.field)),
            },
          ]),
      ...(detail === null ? [] : [{ type: 'section', text: plain(detail, MAX_DETAIL) }]),
      {
        type: 'context',
        elements: [
          { type: 'mrkdwn', text: happened },
          ...(link === null ? [] : [{ type: 'mrkdwn', text: `<${link}|Open in Postroom>` }]),
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** The content of the message, cleaned but not cut yet. */
interface Summary {
  sender: string;
  /** name or address */
  senderName: string;
  recipient: string;
  subject: string;
  receivedAt: Date;
  excerpt: string;
  /** null: no attachments */
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
    excerpt: orElse(safeText(readText(content)), '(no text)'),
    files: content.attachments.length === 0 ? null : listFiles(content.attachments),
    link: linkTo(facts, 'raw'),
  };
}

/** Returns the text without quoted mail, or the text of the HTML if there is no text. */
function readText({ cleanedText, textBody, cleanedHtml, htmlBody }: PayloadFacts['content']): string {
  const text = [cleanedText, textBody].find((each) => each !== null && !isBlank(each.slice(0, MAX_TEXT)));
  if (text != null) return text;
  const html = cleanedHtml ?? (htmlBody === null ? null : sanitizeHtmlBody(htmlBody.slice(0, MAX_UNCLEANED_HTML)));
  if (html === null) return '';
  // Line breaks where a browser has them; other white space becomes one space.
  const lines = html.slice(0, MAX_HTML).split(LINE_BREAK);
  return lines
    .map(lineOfHtml)
    .filter((line) => line !== '')
    .join('\n');
}

const LINE_BREAK = /<br[^<>]*>|<\/?(?:p|div|li|tr|table|h[1-6]|blockquote|pre|hr|ul|ol|dl|dt|dd|center)(?:\s[^<>]*)?>/i;

/** Returns the text of sanitized HTML without line breaks: it has only these four entities. */
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
  // Never `mrkdwn` for text from mail: its markup cannot be escaped.
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

/** Splits text at the positions where it may be cut, and escapes each piece for the service. */
type Pieces = (text: string) => Iterable<string>;

/** Maximum characters processed; far above the limit of every chat service. */
const MAX_PROCESSED = 20_000;
/** UTF-16 units. A longer grapheme, which no script needs, is cut. */
const LONGEST_GRAPHEME = 32;
const ELLIPSIS = '…';

/**
 * Removes characters that deceive or break the display: control characters, marks that change the direction of writing (`gpj.exe` for
 * `exe.jpg`), invisible ones, lone surrogates. Line ends become line feeds, at most two in a row. Joiners stay, because emoji and some
 * scripts need them.
 */
function safeText(text: string): string {
  const front =
    text.length > MAX_PROCESSED ? `${text.slice(0, MAX_PROCESSED).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}` : text;
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

/** Like {@link safeText}, on one line. */
function safeLine(text: string): string {
  return safeText(text).replace(/\s+/g, ' ');
}

/** Returns whether the text is invisible: chat services reject such text, or show a gap. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u2800\u3164\uffa0]/u.test(text);
}

/**
 * Cuts the text to `limit` UTF-16 units (no service counts more) and adds an ellipsis if it was cut. Graphemes and escapes stay whole.
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

/** For fields that are displayed without formatting. */
const plainPieces: Pieces = graphemes;

/** Slack, "Formatting message text": three characters are escaped; then nothing is a mention, a link or a command. */
function* slackPieces(text: string): Iterable<string> {
  for (const piece of graphemes(text))
    yield piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Escapes Discord's markdown with backslashes. http(s) URLs stay clickable: each is one piece, which is not cut; if the limit cuts it, it
 * is no longer a link.
 */
const discordPieces: Pieces = (text) => escapedForDiscord(text, LINK);

/** The same without links: Discord would fetch and preview URLs in the text of a message. */
const discordPiecesWithoutLinks: Pieces = (text) => escapedForDiscord(text, null);

/** Start of a URL for Discord, and only those of its characters that need no escape. */
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
    // List markers count only at the start of a line.
    const isMark = /^[-+.]$/.test(piece) && /^\s*\d*$/.test(line);
    // Without its colon a scheme does not make a link.
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
  // Most text contains nothing that can be combined. Our line feeds have no carriage return before them.
  if (/^[\n -~]*$/.test(text)) {
    yield* text;
    return;
  }
  for (const { segment } of segmenter.segment(text)) {
    if (segment.length <= LONGEST_GRAPHEME) yield segment;
    else yield* segment;
  }
}
