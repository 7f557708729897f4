import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ScreenedMail } from '../../../../core/screening/screened-mail.ts';
import {
  inBase64,
  inHex,
  inRot13,
  inTagCharacters,
  inVariationSelectors,
  inZeroWidthBits,
  type MailCase,
} from '../mail-case.ts';

/** A mail that was written and committed before the screening was changed for the last time. */
export interface FrozenMail extends MailCase {
  /** the heading in its file */
  category: string;
  language: string;
  /** what was put into the mail, without tags */
  said: string;
  /** whether it was kept aside: no rule, word or weight was chosen with it in sight */
  isHeld: boolean;
}

/** Beginnings of the names of the files, in the order in which they were written. */
export const FROZEN_SETS = [
  '',
  'fresh-',
  'reported-',
  'kinds-',
  'wide-',
  'far-',
  'styles-',
  'outside-',
  'mixed-',
  'varied-',
] as const;

/** Returns the mails of a file: each line is a language, a form, and a text that is put into a long mail of that language. */
export function readFrozenMail(name: `${(typeof FROZEN_SETS)[number]}${'attacks' | 'look-alikes'}`): FrozenMail[] {
  const carriers = readCarriers();
  let category = '';
  return readLines(name).flatMap((line): FrozenMail[] => {
    if (line.startsWith('# ')) {
      category = line.slice(2);
      return [];
    }
    const [language = '', form = ''] = line.split(' | ', 2);
    const text = line.slice(language.length + form.length + 6).replaceAll('\\n', '\n');
    const digest = createHash('sha256').update(line).digest();
    const own = carriers.get(language) ?? [];
    const carrier = own[(digest[1] ?? 0) % own.length] ?? '@@';
    const isLast = (digest[2] ?? 0) % 3 === 0;
    const around = isLast ? `${carrier.replace('@@\n\n', '')}\n\n@@` : carrier;
    const mail = {
      subject: around.slice(0, 40).split('\n')[0] ?? '',
      fileNames: [],
      ...(buildBeside(form, text, around) ?? build(form, text, around)),
    };
    const said = text.replace(/<[^>]*>/g, ' ');
    return [
      { name: `${language} ${form}: ${text}`, mail, category, language, said, isHeld: (digest[0] ?? 0) % 3 === 0 },
    ];
  });
}

/** The set that no training sees, to test the last one with. */
const UNTRAINED: readonly string[] = ['varied-'];
/** Texts that are no sentences of their language. */
const OF_OTHER_FORM = /^\S+ (?:parts|enc:leet):/;

/** Returns what was put into the mails that were looked at, to train with; of the sets in UNTRAINED and of `without` nothing. */
export function readOpenTexts(kind: 'attacks' | 'look-alikes', without?: string): string[] {
  return FROZEN_SETS.filter((set) => !UNTRAINED.includes(set) && set !== without)
    .flatMap((set) => readFrozenMail(`${set}${kind}`))
    .filter(({ isHeld, name }) => !isHeld && !OF_OTHER_FORM.test(name))
    .map(({ said }) => said);
}

/** Returns mails of which a text is hidden as it is in ordinary mail: before all that is seen, in a comment, or beside a picture. */
export function readHiddenLookAlikes(): MailCase[] {
  return readLines('hidden-look-alikes').flatMap((line): MailCase[] => {
    if (line.startsWith('# ')) return [];
    const [form = ''] = line.split(' | ', 1);
    const text = line.slice(form.length + 3);
    const inner = HIDING[form === 'preheader' ? 'display' : form]?.(text) ?? '';
    const html = form === 'preheader' ? `${inner}<p>Hello.</p>` : `<p>Hello.</p>${inner}<p>See below.</p>`;
    return [{ name: line, mail: { subject: 'Hello', text: null, html, fileNames: [] } }];
  });
}

function readLines(name: string): string[] {
  const lines = readFileSync(path.join(import.meta.dirname, `${name}.txt`), 'utf8').split('\n');
  return lines.filter((line) => line !== '');
}

function readCarriers(): Map<string, string[]> {
  const carriers = new Map<string, string[]>();
  let language = '';
  for (const line of readLines('carriers'))
    if (line.startsWith('# ')) language = line.slice(2);
    else carriers.set(language, [...(carriers.get(language) ?? []), line.replaceAll('\\n', '\n')]);
  return carriers;
}

/** Returns the fields of a mail that is nothing but the text, or has it beside the body; null: the form puts it into the body. */
function buildBeside(
  form: string,
  text: string,
  carrier: string,
): (Partial<ScreenedMail> & Pick<ScreenedMail, 'text' | 'html'>) | null {
  const around = { text: carrier.replace('@@\n\n', ''), html: null };
  if (form === 'alone') return { text, html: null };
  if (form === 'subject') return { ...around, subject: text };
  if (form === 'sender') return { ...around, senderName: text };
  if (form === 'file') return { ...around, fileNames: [text] };
  if (form === 'attached') return { ...around, attachedTexts: [text] };
  return null;
}

type Parts = Pick<ScreenedMail, 'text' | 'html'>;

function build(form: string, text: string, carrier: string): Parts {
  const [kind = '', way = ''] = form.split(':');
  if (kind === 'parts') {
    const [, plain = '', html = ''] = /^text: (.*?) \|\| html: (.*)$/.exec(text) ?? [];
    return { text: plain, html };
  }
  if (kind === 'text') return { text: carrier.replace('@@', () => text), html: null };
  if (kind === 'html') return { text: null, html: toHtml(carrier, text.startsWith('<') ? text : `<p>${text}</p>`) };
  if (kind === 'enc') return { text: carrier.replace('@@', () => ENCODINGS[way]?.(text) ?? ''), html: null };
  if (way === 'tags') return { text: carrier.replace('@@', () => inTagCharacters(text)), html: null };
  if (way === 'zerowidth') return { text: carrier.replace('@@', () => inZeroWidthBits(text)), html: null };
  if (way === 'selectors') return { text: carrier.replace('@@', () => inVariationSelectors(text)), html: null };
  if (way === 'gap') return { text: `${carrier.replace('@@\n\n', '')}${'\n'.repeat(60)}${text}`, html: null };
  if (way === 'preheader') return { text: null, html: `${HIDING['display']?.(text)}${toHtml(carrier, '')}` };
  return { text: null, html: toHtml(carrier, HIDING[way]?.(text) ?? '') };
}

function toHtml(carrier: string, inner: string): string {
  const paragraphs = carrier
    .split('\n\n')
    .map((each) => (each === '@@' ? inner : `<p>${each.replaceAll('>', '&gt;').replaceAll('\n', '<br>')}</p>`));
  return `<html><head><style>p{margin:0 0 12px;color:#222}.fold{display:none}</style></head><body style="background:#ffffff"><table role="presentation" width="600"><tr><td style="font-family:Arial,sans-serif;font-size:15px">${paragraphs.join('\n')}</td></tr></table></body></html>`;
}

/** Ways to hide a text in HTML. */
const HIDING: Readonly<Record<string, (text: string) => string>> = {
  display: (text) => `<div style="display:none">${text}</div>`,
  white: (text) => `<p style="color:#fefefe">${text}</p>`,
  tiny: (text) => `<span style="font-size:1px;line-height:1px">${text}</span>`,
  opacity: (text) => `<div style="opacity:0">${text}</div>`,
  offscreen: (text) => `<div style="position:absolute;left:-9999px;top:0">${text}</div>`,
  clip: (text) => `<span style="position:absolute;clip-path:inset(100%)">${text}</span>`,
  class: (text) => `<div class="fold">${text}</div>`,
  maxheight: (text) => `<div style="max-height:0;overflow:hidden">${text}</div>`,
  comment: (text) => `<!-- ${text} -->`,
  alt: (text) => `<img src="https://img.example/a.png" width="40" height="40" alt="${text}">`,
  title: (text) => `<a href="https://img.example/" title="${text}">Details</a>`,
  visibility: (text) => `<p style="visibility:hidden">${text}</p>`,
  mso: (text) => `<!--[if mso]><p>${text}</p><![endif]-->`,
  textindent: (text) => `<p style="text-indent:-5000px;overflow:hidden;white-space:nowrap">${text}</p>`,
  scale: (text) => `<div style="transform:scale(0)">${text}</div>`,
  hiddenattr: (text) => `<p hidden>${text}</p>`,
  template: (text) => `<template><p>${text}</p></template>`,
};

const LOOKALIKES: Readonly<Record<string, string>> = { a: 'а', e: 'е', o: 'о', p: 'р', c: 'с', i: 'і' };

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  base64: (text) => `Ref: ${inBase64(text)}`,
  base64wrapped: (text) => inBase64(text).replace(/.{60}/g, '$&\n'),
  hex: (text) => `Ref: ${inHex(text)}`,
  rot13: inRot13,
  reverse: (text) => Array.from(text).toReversed().join(''),
  percent: (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  entities: (text) => Array.from(text, (each) => `&#${each.codePointAt(0)};`).join(''),
  spaced: (text) => text.replaceAll(' ', '  ').replace(/(?<=\S)(?=\S)/g, ' '),
  leet: (text) => text,
  fullwidth: (text) => text.replace(/[!-~]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)),
  homoglyph: (text) => text.replace(/[aeopci]/g, (each) => LOOKALIKES[each] ?? each),
};
