import { expect, test } from 'vitest';
import { findReferences } from '../../../core/sending/outgoing-links.ts';

const linkIn = (content: { subject?: string; text?: string; html?: string }) =>
  findReferences({ subject: content.subject ?? '', text: content.text ?? null, html: content.html ?? null }).link;

test.for<[string, string | null]>([
  ['Nothing here.', null],
  ['See https://example.com/x.', 'https://example.com/x'],
  ['See www.example.com', 'www.example.com'],
  ['See example.com, please', 'example.com'],
  ['HTTP://EXAMPLE.COM', 'HTTP://EXAMPLE.COM'],
  ['http://192.0.2.1/x', 'http://192.0.2.1/x'],
  ['slack://open', 'slack://o'],
  ['Write to ann@example.com', null],
  ['mailto:ann@example.com', null],
  ['Version 1.2.3 at 10:30, e.g.', null],
])('text %j: %s', ([text, link]) => {
  expect(linkIn({ text })).toBe(link);
  expect(linkIn({ subject: text })).toBe(link);
  expect(linkIn({ html: `<p>${text}</p>` })).toBe(link);
});

test.for<[string, string | null]>([
  ['<a href="https://example.com">x</a>', 'https://example.com'],
  ['<a href=" ht\ntps://example.com ">x</a>', 'https://example.com'],
  ['<a href="//example.com">x</a>', '//example.com'],
  ['<a href="x.html">x</a>', 'x.html'],
  ['<a href="javascript:alert(1)">x</a>', 'javascript:alert(1)'],
  ['<a href="#top" name="top">x</a>', null],
  ['<a href="mailto:ann@example.com">x</a><a href="tel:+1">x</a>', null],
  ['<img src="https://example.com/p.gif">', 'https://example.com/p.gif'],
  ['<img srcset="https://example.com/p.gif 2x">', 'https://example.com/p.gif 2x'],
  ['<img src="cid:one@example.com">', null],
  ['<table background="http://example.com/b.png"></table>', 'http://example.com/b.png'],
  ['<form action="https://example.com"></form>', 'https://example.com'],
  ['<meta http-equiv="refresh" content="0;url=https://example.com">', '0;url=https://example.com'],
  ['<p style="background:url(https://example.com/b.png)">x</p>', 'https://example.com/b.png'],
  ['<p style="background:u\\72l(//example.com/b.png)">x</p>', '//example.com/b.png'],
  ['<p style="background:url(cid:b)">x</p>', null],
  ['<style>@import "//example.com/s.css";</style>', '//example.com/s.css'],
  ['<style>p { color: red }</style>', null],
  ['<html xmlns="http://www.w3.org/1999/xhtml"><body>x</body></html>', null],
  ['<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1.dtd"><p>x</p>', null],
  ['<!-- https://example.com -->', null],
  ['<!--[if mso]><a href="https://example.com">x</a><![endif]-->', 'https://example.com'],
  ['<p>exam<b>ple</b>.com</p>', 'example.com'],
  ['<p>the end.</p><p>com</p>', null],
  ['<template><a href="https://example.com">x</a></template>', 'https://example.com'],
  ['<svg><a xlink:href="https://example.com">x</a></svg>', 'https://example.com'],
])('HTML %s: %s', ([html, link]) => {
  expect(linkIn({ html })).toBe(link);
});

test('a file in a data: URL is embedded, and no link', () => {
  const found = (html: string) => findReferences({ subject: '', text: null, html });
  const embedded = { link: null, hasEmbeddedFile: true };
  expect(found('<img src="data:image/png;base64,AAAA">')).toEqual(embedded);
  expect(found('<p style="background:url(\'data:image/png;base64,AAAA\')">x</p>')).toEqual(embedded);
  expect(found('<img src="cid:a">')).toEqual({ link: null, hasEmbeddedFile: false });
});

test('what is too large to be searched counts as a link', () => {
  expect(linkIn({ text: 'a '.repeat(600_000) })).toMatch(/more text/);
  expect(linkIn({ html: 'a '.repeat(600_000) })).toMatch(/more HTML/);
  expect(linkIn({ html: '<p>'.repeat(150_000) })).toMatch(/more HTML/);
  expect(linkIn({ text: `https://example.com/${'x'.repeat(500)}` })).toHaveLength(101);
});
