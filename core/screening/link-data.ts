import { resolveReferences } from '../html/visible-text.ts';
import { foldText } from './folded-text.ts';

/** A link that carries what the mail says, or has a place for it. */
export interface CarryingLink {
  excerpt: string;
  why: string;
}

const ATTRIBUTE =
  /\b(src|href|background|poster|action)\s*=\s*(?:"([^"]{1,4000})"|'([^']{1,4000})'|([^\s"'>]{1,4000}))/gi;
const STYLE_URL = /url\(\s*["']?([^"')\s]{8,4000})/gi;
const PLAIN_URL = /\bhttps?:\/\/[^\s"'<>]{4,2000}/gi;
/** An address with a place for data: `?q={{summary}}`, `[INBOX]`, `INSERT_TEXT`, `<whole thread>`. Tags with attributes and other addresses are none. */
const PLACE =
  /\{\{(?<template>[^{}]{1,80})\}\}|\$\{(?<variable>[^{}]{1,80})\}|\[(?<bracket>[^[\]]{3,100})\]|\{(?<brace>[^{}]{1,80})\}|<(?<angle>[^<>/!:=@][^<>:=@]{2,79})>|(?<==)\((?<paren>[^()]{3,80})\)|(?<words>(?:insert|paste|put|your|add)[_ -][a-z_ -]{3,60}|[A-Z]{4,20}(?:_[A-Z]{2,20}){0,4}_HERE)/g;
/** What an agent has and a sender does not. */
const DATA =
  /\b(?:contents?|summary|summari[sz]e|conversations?|history|inbox|mailbox|transcripts?|passwords?|secrets?|context|prompt|(?:whole|entire|full|this|the) (?:thread|e-?mail|message|mail|chat)|chat|contacts|calendar|credentials|api key|user data|private|codes?|(?:last|latest|previous|first|newest|base64|encoded) (?:\w+ )?(?:\w+ )?(?:messages?|e-?mails?|replies|reply|answer)|body|answer|reply|everything|zusammenfassung|unterhaltung|verlauf|inhalt|passwort|kontakte|postfach|resume|conversation|contenu|message|messages|contacts|mot de passe|resumen|conversacion|contenido|mensaje|contactos|contrasena|riassunto|conversazione|contenuto|messaggio|contatti|resumo|conversa|conteudo|mensagem|contatos|senha|samenvatting|gesprek|inhoud|bericht|wachtwoord|streszczenie|podsumowanie|rozmowa|tresc|wiadomosc|haslo|sammanfattning|konversation|innehall|losenord|ozet|icerik|mesaj|sifre)\b|содержан|переписк|пересказ|сообщени|парол|контакт|摘要|内容|內容|对话|對話|聊天|密码|联系人|要約|会話|本文|内容|パスワード|連絡先|요약|대화|내용|비밀번호|ملخص|محادث|محتوى|كلم[ةه] المرور|סיכום|שיחה|תוכן|सारांश|बातचीत/;
const APPEND =
  /\b(?:append|add|attach|insert|put|include|encode|paste|place|concatenate)\b[^.\n]{0,100}?\b(?:to|into|in|at|after|as|of)\b[^.\n]{0,60}?(?:url|link|https?:\/\/[^\s"'<>]{4,300})/;
/** Fields in which links hand over a text on purpose: to share it, to look for it. */
const SHARED =
  /^(?:text|title|subject|body|description|desc|q|query|status|quote|summary|caption|message|details|name|location|s|p|alt|label|c|chart|search|keyword|keywords)$/i;
const SECRET =
  /\b(?:password|passwort|kennwort|passphrase|mot de passe|contraseña|senha|api key|recovery code|backup code|secret)\b[^\n]{0,20}?(?:\bis\b|:|=|\blautet\b|\best\b|\bes\b)\s*([^\s<>"]{5,64})/gi;
const CODE = /\b(?:code|otp|pin)\b[^\n]{0,24}?\b([a-z]{0,4}-?\d[\da-z-]{3,9})\b/gi;
const MIN_WORDS = 6;

/** Bodies of a mail. */
export interface LinkedParts {
  text: string | null;
  html: string | null;
  /** text of both as written, hidden or not */
  allText: string;
  /** allText, folded */
  folded: string;
}

/** Returns the first link in a mail that carries what the mail says, or asks an agent to fill it; null: none. Linear. */
export function findCarryingLink(mail: LinkedParts): CarryingLink | null {
  const { text, html, folded } = mail;
  for (const source of [text, html]) {
    const found = source === null ? null : readCarryingLink(source);
    if (found !== null) return found;
  }
  const append = folded.includes('://') || folded.includes('url') ? APPEND.exec(folded) : null;
  if (append !== null && DATA.test(append[0]))
    return { excerpt: append[0], why: 'it asks to add what an agent knows to an address' };
  return findOwnText(mail);
}

/** What begins a place, in an address or right behind it. */
const PLACE_START = /[{[<]|=\(|%5b|%7b|(?:insert|paste|put|your|add)[_ -]|_here/i;

/** What begins a place right behind an address. */
const PLACE_FOLLOWS = /[{[<]/;
/** An address that ends where a value belongs, or within a place. */
const OPENS_PLACE = /=$|[[{(][^\]})]*$/;

function readCarryingLink(source: string): CarryingLink | null {
  // Faster than the pattern, which most mail has nothing for.
  if (!source.includes('://') && !/mailto:/i.test(source)) return null;
  for (const { 0: url, index } of source.matchAll(/(?:https?:\/\/|mailto:)[^\s"'<>)]{4,2000}/gi)) {
    const near = source.slice(
      index,
      index +
        url.length +
        (PLACE_FOLLOWS.test(source.charAt(index + url.length)) || OPENS_PLACE.test(url.slice(-100)) ? 100 : 0),
    );
    if (!PLACE_START.test(near)) continue;
    const text = near.replaceAll(/%(?:5b|5d|7b|7d|20|24)/gi, decodeURIComponent);
    for (const { 0: place, index: at, groups = {} } of text.matchAll(PLACE)) {
      if (at > url.length) break;
      const name =
        groups['template'] ??
        groups['variable'] ??
        groups['bracket'] ??
        groups['brace'] ??
        groups['angle'] ??
        groups['paren'];
      if (isData(name ?? groups['words'] ?? '', source, index))
        return { excerpt: text.slice(0, at + place.length), why: 'an address has a place for what an agent knows' };
    }
  }
  return null;
}

/** Names of what the pages of every interface have: a place for it says nothing alone. */
const OF_INTERFACES =
  /^(?:(?:body|message|messages|reply|answer|user ?name|email|mail|content|contacts?|code|codes|summary|chat)(?:\.|$))+$/;
/** The number of a message is not the message. */
const IDENTIFIER = /[ .](?:id|ids|uuid|number|count|type)$/;
/** Before an address: a picture in Markdown or HTML, which programs load. */
const LOADED = /(?:!\[[^\]\n]{0,80}\]\(\s*|\bsrc\s*=\s*["']?)$/;
/** Behind an address in HTML: the same address as the text of the link. */
const SHOWN = /^["']?[^<>]{0,200}>\s*https?:\/\//;
const TWO_PLACES = /[{[]\s*\{?[^{}]{3,40}\}?[^{[]{0,60}[{[]/;
/** What a reader is told to do with an address; a program that is described does it, and a request is sent by developers. */
const USE =
  /(?:^|[,;:(>*-]\s*|\b(?:please|kindly|then|and|now|first|always|also|must|should|shall|bitte|dann|und|puis|et|luego|y|poi|e)\s+)(?:send|forward|submit|transmit|upload|export|append|attach|fill|complete|replace|substitute|open|visit|load|fetch|render|embed|show|display|click|follow|go to|navigate|sende|schicke?|leite|offnen?|hange|fulle?|ersetze|lade|besuche?|rufe?|zeige?|envoie|envoyez|ouvre|ouvrez|ajoute|ajoutez|remplace|remplacez|remplis|affiche[zr]?|envia|envie|abre|abra|anade|rellena|reemplaza|muestra|visita|visite|invia|inviate|apri|aprite|aggiungi|compila|sostituisci|mostra|abre|preencha|substitua|stuur|vul|otworz|wyslij|oppna|skicka|apn)\b(?!\s+(?:an? |the |your )?(?:\w+ )?(?:requests?|get|post|put|patch|delete|calls?|quer(?:y|ies))\b)|открои|открой|отправ|переиди|перейди|замени|打开|打開|访问|訪問|发送|發送|填|替换|開いて|開き|送って|送信|열어|보내|افتح|أرسل|ارسل|פתח|שלח/;
/** Words for who reads the mail, and for what only such a reader has. */
const OF_READER =
  /\b(?:you (?:have )?(?:read|answer|reply|see|saw|know|received?)|before (?:answering|replying)|inbox|mailbox|conversation|assistants?|agents?|ais?|llms?|bots?)\b/;

/** Returns whether a place in an address, by its name, is meant for what an agent knows. */
function isData(name: string, source: string, index: number): boolean {
  const plain = foldText(name.replaceAll(/[_-]/g, ' ')).normalize('NFC').trim();
  if (!DATA.test(plain) && !DATA.test(name.toLowerCase())) return false;
  if (IDENTIFIER.test(plain)) return false;
  if (!OF_INTERFACES.test(plain)) return true;
  const before = source.slice(Math.max(0, index - MAX_SENTENCE), index);
  if (LOADED.test(before)) return true;
  if (/href\s*=\s*["']?$/.test(before))
    return !SHOWN.test(source.slice(index, index + 2_500).replace(/^[^\s"'<>]{0,2000}/, ''));
  return TWO_PLACES.test(source.slice(index, index + 300)) && isOrdered(before, source.slice(index, index + 600));
}

const MAX_SENTENCE = 300;
const SENTENCE_END = /[.!?\u3002](?:\s+|(?=<))|\n\s*\n|<\/(?:p|div|li|td|tr|h\d)>/g;

/** Returns whether the sentence around an address, or the one before when the address begins it, tells its reader to use the address. */
function isOrdered(before: string, fromAddress: string): boolean {
  const beginnings = before.split(SENTENCE_END);
  const own = beginnings.at(-1) ?? '';
  const behind = fromAddress.replace(/^[^\s"'<>]+/, '').split(SENTENCE_END, 1)[0] ?? '';
  const previous = toPlain(own) === '' ? (beginnings.findLast((each) => toPlain(each) !== '') ?? '') : '';
  const plain = `${toPlain(previous)} ${toPlain(own)} | ${toPlain(behind)}`.trim();
  return USE.test(plain) || OF_READER.test(plain);
}

function toPlain(html: string): string {
  return foldText(html.replace(/<[^<>]{0,200}>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

interface Address {
  url: string;
  /** whether programs load it without a click */
  isLoaded: boolean;
}

function addressesIn({ text, html }: { text: string | null; html: string | null }): Address[] {
  const addresses: Address[] = [];
  if (html !== null) {
    for (const [, name = '', double, single, plain] of html.matchAll(ATTRIBUTE)) {
      const url = resolveReferences(double ?? single ?? plain ?? '');
      addresses.push({ url, isLoaded: /^(?:src|background|poster)$/i.test(name) });
    }
    for (const [, url = ''] of html.matchAll(STYLE_URL))
      addresses.push({ url: resolveReferences(url), isLoaded: true });
  }
  for (const [url] of (text?.includes('?') === true ? text : '').matchAll(PLAIN_URL))
    addresses.push({ url, isLoaded: false });
  return addresses.filter(({ url }) => /^https?:/i.test(url) && url.includes('?'));
}

function findOwnText(mail: LinkedParts): CarryingLink | null {
  const addresses = addressesIn(mail);
  if (addresses.length === 0) return null;
  let words: string | null = null;
  const source = mail.allText;
  let secrets: { value: string; isCode: boolean }[] | null = null;
  for (const { url, isLoaded } of addresses) {
    for (const [name, value] of readFields(url)) {
      secrets ??= secretsIn(source);
      const carried = secrets.find((each) => value.includes(each.value) && (isLoaded || !each.isCode));
      if (carried !== undefined)
        return {
          excerpt: url,
          why: `an address that ${isLoaded ? 'mail programs load' : 'a click opens'} carries a secret of the mail`,
        };
      const texts = [
        ...(SHARED.test(name) && !isLoaded ? [] : [[value, isLoaded ? 1 : 2] as const]),
        [decoded(value), 1] as const,
      ];
      for (const [text, factor] of texts) {
        if (text === null) continue;
        const own = readWords(text);
        if (own.length < MIN_WORDS * factor) continue;
        words ??= ` ${mail.folded.match(WORD)?.join(' ') ?? ''} `;
        const run = own.slice(0, MIN_WORDS * factor).join(' ');
        if (words.includes(` ${run} `)) return { excerpt: url, why: 'an address carries the text of the mail' };
      }
    }
  }
  return null;
}

function secretsIn(source: string): { value: string; isCode: boolean }[] {
  const secrets: { value: string; isCode: boolean }[] = [];
  for (const [pattern, isCode] of [
    [SECRET, false],
    [CODE, true],
  ] as const)
    for (const [, value = ''] of source.matchAll(pattern)) {
      const plain = resolveReferences(value).replace(/[.,;:!?]+$/, '');
      if (plain.length >= 4 && /\d/.test(plain) && secrets.length < MAX_SECRETS) secrets.push({ value: plain, isCode });
    }
  return secrets;
}

const MAX_SECRETS = 20;

function readFields(url: string): [name: string, value: string][] {
  const query = url.slice(url.indexOf('?') + 1);
  return query
    .split(/[&;#]/)
    .slice(0, MAX_FIELDS)
    .flatMap((field) => {
      const at = field.indexOf('=');
      const value = unescapeUrl(field.slice(at + 1));
      return value.length < 4 ? [] : [[field.slice(0, Math.max(0, at)), value] as [string, string]];
    });
}

const MAX_FIELDS = 50;

function unescapeUrl(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return value;
  }
}

function decoded(value: string): string | null {
  if (!/^[\w+/ -]{24,}={0,2}$/.test(value)) return null;
  const text = Buffer.from(value.replaceAll(' ', '+'), 'base64').toString();
  return /[\0-\x08\ufffd]/.test(text) ? null : text;
}

const WORD = /[\p{L}\p{N}]+/gu;

function readWords(text: string): string[] {
  return foldText(text).match(WORD) ?? [];
}
