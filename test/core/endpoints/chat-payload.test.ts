import { describe, expect, test } from 'vitest';
import { buildChatPayload, DISCORD_LIMITS, SLACK_LIMITS } from '../../../core/endpoints/chat-payload.ts';
import { deriveDownloadLinkKey } from '../../../core/endpoints/download-link.ts';
import { type PayloadFacts } from '../../../core/endpoints/payload-facts.ts';
import { sanitizeHtmlBody } from '../../../core/html/sanitize-html.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';

const file: Attachment = {
  index: 0,
  filename: 'bill.pdf',
  contentType: 'application/pdf',
  size: 12_345,
  contentId: null,
  contentDisposition: 'attachment',
  start: 0,
  length: 0,
  transferEncoding: 'base64',
};

interface Told {
  subject?: string;
  name?: string | null;
  address?: string;
  recipient?: string;
  text?: string | null;
  html?: string | null;
  files?: Partial<Attachment>[];
  publicUrl?: string;
}

function makeFacts(told: Told = {}): PayloadFacts {
  const { text = 'How are you?', html = null, name = 'Ann', address = 'ann@a.test', files = [] } = told;
  return {
    timestamp: new Date('2026-11-20T12:00:01Z'),
    workspaceId: 'usr_1',
    sender: { authentication: null, verdict: null },
    email: {
      id: 'em_1',
      messageId: '<1@a.test>',
      subject: told.subject ?? 'Hi',
      recipient: told.recipient ?? 'b@b.test',
      receivedAt: new Date('2026-11-20T12:00:00Z'),
      date: null,
      threadId: 'th_1',
      threadPosition: 0,
      metadata: null,
    },
    content: {
      headers: [],
      addresses: { from: { text: '', addresses: [{ name, address }] }, to: null, cc: null, bcc: null, replyTo: null },
      inReplyTo: [],
      references: [],
      textBody: text,
      htmlBody: html,
      cleanedText: text,
      cleanedHtml: html,
      quotedText: null,
      signature: null,
      removedParts: [],
      attachments: files.map((each, index) => ({ ...file, index, ...each })),
      priority: null,
      injection: null,
      screening: null,
      isTruncated: false,
    },
    raw: null,
    endpoint: { id: 'ep_1', name: 'Room', type: 'webhook' },
    publicUrl: told.publicUrl ?? 'https://mail.example.test',
    linkKey: deriveDownloadLinkKey(Buffer.alloc(32, 1)),
    linkHolder: 'ep_1',
  };
}

interface DiscordMessage {
  content: string;
  embeds: {
    title: string;
    description: string;
    timestamp: string;
    fields: { name: string; value: string; inline: boolean }[];
    footer: { text: string };
  }[];
  allowed_mentions: { parse: string[] };
}
interface SlackText {
  type: string;
  text: string;
  emoji?: boolean;
}
interface SlackMessage {
  text: string;
  blocks: { type: string; text?: SlackText; fields?: SlackText[]; elements?: SlackText[] }[];
}

const discord = (told?: Told) => JSON.parse(buildChatPayload('chat_a', makeFacts(told))) as DiscordMessage;
const slack = (told?: Told) => JSON.parse(buildChatPayload('chat_b', makeFacts(told))) as SlackMessage;
const findValue = (message: DiscordMessage, name: string) =>
  message.embeds[0]?.fields.find((field) => field.name === name)?.value;
const slackTexts = (message: SlackMessage) =>
  message.blocks.flatMap(({ text, fields, elements }) => [
    ...(text === undefined ? [] : [text]),
    ...(fields ?? []),
    ...(elements ?? []),
  ]);

test('the Discord message has sender, recipient, subject, text, time, files, and a link to the whole message', () => {
  const message = discord({ files: [{}, { filename: 'film.mp4', size: 4_200_000 }] });
  expect(message).toEqual({
    content: '📧 New email from Ann',
    embeds: [
      {
        title: 'Hi',
        description: 'How are you?',
        color: 0x0099ff,
        timestamp: '2026-11-20T12:00:00.000Z',
        fields: [
          { name: 'From', value: 'Ann \\<ann\\@a.test\\>', inline: true },
          { name: 'To', value: 'b\\@b.test', inline: true },
          { name: 'Attachments', value: 'bill.pdf \\(12 KB\\), film.mp4 \\(4.2 MB\\)', inline: false },
          {
            name: 'Link',
            value: expect.stringMatching(
              /^\[Whole message, for 7 days\]\(https:\/\/mail\.example\.test\/api\/e2\/emails\/em_1\/raw\?[^)\s]+\)$/,
            ),
            inline: false,
          },
        ],
        footer: { text: 'Postroom' },
      },
    ],
    allowed_mentions: { parse: [] },
  });
});

test('the Slack message has the same content', () => {
  const message = slack({ files: [{}] });
  expect(message).toEqual({
    text: 'New email from Ann: Hi',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'Hi', emoji: false } },
      {
        type: 'section',
        fields: [
          { type: 'plain_text', text: 'From\nAnn &lt;ann@a.test&gt;', emoji: false },
          { type: 'plain_text', text: 'To\nb@b.test', emoji: false },
        ],
      },
      { type: 'section', text: { type: 'plain_text', text: 'How are you?', emoji: false } },
      { type: 'context', elements: [{ type: 'plain_text', text: 'Attachments: bill.pdf (12 KB)', emoji: false }] },
      {
        type: 'context',
        elements: [
          { type: 'mrkdwn', text: '<!date^1795176000^{date_short_pretty} {time}|2026-11-20T12:00:00.000Z>' },
          { type: 'mrkdwn', text: expect.stringMatching(/^<https:\/\/mail\.example\.test\/[^|>\s]+\|Whole message> /) },
        ],
      },
    ],
    unfurl_links: false,
    unfurl_media: false,
  });
});

test('equal facts give equal bytes', () => {
  for (const format of ['chat_a', 'chat_b'] as const)
    expect(buildChatPayload(format, makeFacts())).toBe(buildChatPayload(format, makeFacts()));
});

/** What remains when escapes are taken out: nothing in it may act. */
const withoutEscapes = (text: string) => text.replace(/\\[^0-9A-Za-z\s]/g, '·');
const withoutLinks = (text: string) => text.replace(/https?:\/\/[A-Za-z0-9._~:/?#@!$&'+,;=%-]+/gi, '');

function expectHarmless(told: Told): { ofDiscord: DiscordMessage; ofSlack: SlackMessage } {
  const ofDiscord = discord(told);
  const [embed] = ofDiscord.embeds;
  const { title = '', description = '', fields = [], footer = { text: '' } } = embed ?? {};
  expect(ofDiscord.allowed_mentions).toEqual({ parse: [] });
  expect(ofDiscord.content.length).toBeLessThanOrEqual(DISCORD_LIMITS.content);
  expect(title.length).toBeLessThanOrEqual(DISCORD_LIMITS.title);
  expect(description.length).toBeLessThanOrEqual(DISCORD_LIMITS.description);
  expect(fields.length).toBeLessThanOrEqual(DISCORD_LIMITS.fields);
  let all = title.length + description.length + footer.text.length;
  for (const { name, value } of fields) {
    expect(name.length).toBeLessThanOrEqual(DISCORD_LIMITS.fieldName);
    expect(value.length).toBeLessThanOrEqual(DISCORD_LIMITS.fieldValue);
    all += name.length + value.length;
  }
  expect(all).toBeLessThanOrEqual(DISCORD_LIMITS.all);
  const ofMail = [ofDiscord.content, title, ...fields.filter(({ name }) => name !== 'Link').map(({ value }) => value)];
  for (const text of ofMail) expect(withoutEscapes(text)).not.toMatch(/[\\`*_~|<>[\]()@#]|[a-z]:\/\//i);
  expect(withoutEscapes(withoutLinks(description))).not.toMatch(/[\\`*_~|<>[\]()@#]|[a-z]:\/\/|^\s*(?:[-+]|\d+\.)/im);

  const ofSlack = slack(told);
  expect(ofSlack.text.length).toBeLessThanOrEqual(SLACK_LIMITS.text);
  expect(ofSlack.blocks.length).toBeLessThanOrEqual(SLACK_LIMITS.blocks);
  for (const { type, text, fields: list = [], elements = [] } of ofSlack.blocks) {
    if (text !== undefined)
      expect(text.text.length).toBeLessThanOrEqual(type === 'header' ? SLACK_LIMITS.header : SLACK_LIMITS.section);
    expect(list.length).toBeLessThanOrEqual(SLACK_LIMITS.fields);
    for (const each of list) expect(each.text.length).toBeLessThanOrEqual(SLACK_LIMITS.field);
    for (const each of elements) expect(each.text.length).toBeLessThanOrEqual(SLACK_LIMITS.contextElement);
  }
  for (const { type, text } of slackTexts(ofSlack)) if (type === 'plain_text') expectEscaped(text);
  expectEscaped(ofSlack.text);

  for (const text of [...ofMail, description, ofSlack.text, ...slackTexts(ofSlack).map((each) => each.text)]) {
    expect(text.isWellFormed()).toBe(true);
    expect(text.trim()).not.toBe('');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/);
  }
  return { ofDiscord, ofSlack };
}

function expectEscaped(text: string): void {
  expect(text.replace(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[&<>]/);
}

describe('text from mail is inert:', () => {
  test.each<[string, string]>([
    ['mentions of everyone', '@everyone @here <@&1> <@123> <@!123> <#5> </cmd:1> <id:guide>'],
    ['mentions of a channel', '<!channel> <!here> <!everyone> <@U123> <#C123|x> <!subteam^S1>'],
    ['masked links', '[Your bank](https://evil.test) [x](<javascript:alert(1)>)'],
    ['Slack links', '<https://evil.test|https://bank.test> <mailto:a@b.test|x>'],
    ['bold, italic, spoilers', '**b** __u__ *i* _i_ ~~s~~ ||spoiler|| ***x***'],
    ['code', '`a` ```js\nalert(1)\n``` ``'],
    ['headings, lists, quotes', '# H\n## H\n-# sub\n- a\n* b\n+ c\n1. d\n> q\n>>> qq\n  - e'],
    ['backslashes', '\\ \\\\ \\* \\\\* \\\\\\@everyone'],
    ['custom emoji and times', '<:x:1> <a:x:1> <t:1:R> :smile:'],
    ['other schemes', 'javascript://x steam://run discord://x data:text/html,x file:///etc ftp://a'],
    ['schemes that are escaped halfway', 'https\\://x https:/\\/x hhttps://x_y_'],
    ['entities', '&lt;!channel&gt; &amp;lt; &#60;!here&#62;'],
    ['a scheme in a new line', 'x\njavascript://y'],
    ['direction marks', 'invoice\u202egnp.exe \u2066x\u2069 \u200f'],
    ['NUL and other control characters', 'a\0b\x1b[31mc\x7f\x85\u009bd'],
    ['lone surrogates', '\ud83d x \ude00'],
    ['line separators', 'a\u2028b\u2029c\r\nd\re'],
    ['invisible characters', '\u200b\ufeff\u2060@\u200beveryone'],
    ['many marks on one letter', `Z${'\u0335'.repeat(5_000)}`],
    ['many joiners', '👩\u200d'.repeat(3_000)],
  ])('%s', (_, hostile) => {
    expectHarmless({
      subject: hostile,
      name: hostile,
      recipient: hostile,
      text: hostile,
      files: [{ filename: hostile }],
    });
    expectHarmless({ subject: hostile.repeat(2_000), name: hostile.repeat(2_000), text: hostile.repeat(2_000) });
    expectHarmless({ text: `${'x'.repeat(4_090)}${hostile}` });
    expectHarmless({ text: null, html: `<p>${hostile.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>` });
  });

  test('a URL in the text stays a link, whatever its characters; nothing else is one', () => {
    const url = 'https://shop.test/a_b_c/*?x=1&y=~z_#_frag';
    const { embeds, content } = discord({ text: `See ${url} now_`, subject: url, name: url });
    expect(embeds[0]?.description).toBe('See https://shop.test/a_b_c/\\*?x=1&y=\\~z\\_\\#\\_frag now\\_');
    expect(embeds[0]?.title).toContain('https\\://');
    expect(content).toContain('https\\://');
  });
});

describe('long content', () => {
  test('a subject of 100 KB is cut with an ellipsis', () => {
    const subject = 'word '.repeat(20_000);
    const { ofDiscord, ofSlack } = expectHarmless({ subject });
    expect(ofDiscord.embeds[0]?.title).toMatch(/word…$/);
    expect(ofSlack.blocks[0]?.text?.text).toMatch(/word…$/);
  });

  test.each([
    ['subject', (text: string): Told => ({ subject: text }), 256, 150],
    ['text', (text: string): Told => ({ text }), 4_096, 3_000],
  ] as const)('a %s at the limit goes whole, one character more is cut', (_, told, ofDiscord, ofSlack) => {
    const title = (text: string) => {
      const [embed] = discord(told(text)).embeds;
      return text.length < 1_000 ? embed?.title : embed?.description;
    };
    const header = (text: string) => slack(told(text)).blocks[text.length < 1_000 ? 0 : 2]?.text?.text;
    expect(title('x'.repeat(ofDiscord))).toBe('x'.repeat(ofDiscord));
    expect(title('x'.repeat(ofDiscord + 1))).toBe(`${'x'.repeat(ofDiscord - 1)}…`);
    expect(header('x'.repeat(ofSlack))).toBe('x'.repeat(ofSlack));
    expect(header('x'.repeat(ofSlack + 1))).toBe(`${'x'.repeat(ofSlack - 1)}…`);
  });

  test.each([
    ['a surrogate pair', '😀'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['a flag', '🇩🇪'],
    ['a letter with its accent', 'e\u0301'],
    ['an escape', '&'],
  ])('%s is never split', (_, character) => {
    const header = (text: string) => slack({ subject: text }).blocks[0]?.text?.text;
    const written = character.replace('&', '&amp;');
    const before = 'x'.repeat(SLACK_LIMITS.header - written.length);
    expect(header(before + character)).toBe(before + written);
    for (let more = 1; more < written.length; more++)
      expect(header(`${'x'.repeat(more)}${before}${character}`)).toBe(`${'x'.repeat(more)}${before}…`);
    expect(header(`${before}${character}x`)).toBe(`${before}…`);
  });

  test('everything at maximum length stays within the total limit of Discord', () => {
    const long = '_'.repeat(10_000);
    const files = Array.from({ length: 40 }, () => ({ filename: '_'.repeat(200) }));
    const { ofDiscord } = expectHarmless({ subject: long, name: long, recipient: long, text: long, files });
    expect(findValue(ofDiscord, 'Attachments')).toMatch(/…/);
    // There is still room for text.
    expect(ofDiscord.embeds[0]?.description.length).toBeGreaterThan(3_500);
  });

  test('the first of many files are named and the others counted', () => {
    const files = Array.from({ length: 25 }, (_, n) => ({ filename: `f${n}.txt`, size: n * 100 }));
    expect(findValue(discord({ files }), 'Attachments')).toMatch(
      /^f0\.txt \\\(0 B\\\), .*f9\.txt \\\(900 B\\\), and 15 more$/,
    );
  });

  test('a URL that would be cut is not a link', () => {
    const url = `https://shop.test/${'a'.repeat(400)}`;
    const description = discord({ text: `${'x'.repeat(4_000)} ${url}` }).embeds[0]?.description ?? '';
    expect(description).not.toContain('shop.test');
    expect(description.endsWith('…')).toBe(true);
    expect(discord({ text: `https://shop.test/${'a'.repeat(600)}` }).embeds[0]?.description).toMatch(/^https\\:/);
  });

  test('a public URL that is too long drops the link, not the message', () => {
    const { ofDiscord, ofSlack } = expectHarmless({ publicUrl: `https://${'a.'.repeat(1_500)}test` });
    expect(findValue(ofDiscord, 'Link')).toBeUndefined();
    expect(ofSlack.blocks.at(-1)?.elements).toHaveLength(1);
  });
});

describe('missing content', () => {
  test.each(['', '   ', '\u200b\u200e', '\u3164', '\0', '\r\n\t', '\u2800'])(
    'a placeholder is shown for missing %j',
    (blank) => {
      const { ofDiscord, ofSlack } = expectHarmless({
        subject: blank,
        name: blank,
        address: blank,
        recipient: blank,
        text: blank,
      });
      expect(ofDiscord.embeds[0]).toMatchObject({ title: '\\(no subject\\)', description: '\\(no text\\)' });
      expect(findValue(ofDiscord, 'From')).toBe('\\(unknown sender\\)');
      expect(ofSlack.blocks[0]?.text?.text).toBe('(no subject)');
    },
  );

  test('a message without From has an unknown sender', () => {
    const facts = makeFacts();
    const content = { ...facts.content, addresses: { ...facts.content.addresses, from: null } };
    expect(buildChatPayload('chat_b', { ...facts, content })).toContain('New email from (unknown sender): Hi');
  });

  test('without text the HTML is shown as text, line by line', () => {
    const html = `<style>p { color: red }</style><script>x</script><h1>News</h1><p>Hello&nbsp;B<b>o</b>b &amp; all,<br>see
      1 &lt; 2 &amp;lt;</p><table><tr><td>a</td><td>b</td></tr></table>`;
    const lines = 'News\nHello Bob & all,\nsee 1 \\< 2 &lt;\na b';
    const facts = makeFacts({ text: null });
    for (const cleanedHtml of [sanitizeHtmlBody(html), null])
      for (const cleanedText of [null, ' ']) {
        const content = { ...facts.content, htmlBody: html, cleanedHtml, cleanedText };
        const { embeds } = JSON.parse(buildChatPayload('chat_a', { ...facts, content })) as DiscordMessage;
        expect(embeds[0]?.description).toBe(lines);
      }
  });
});
