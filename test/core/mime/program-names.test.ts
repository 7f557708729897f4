import { expect, test } from 'vitest';
import { isProgram } from '../../../core/mime/program-names.ts';

test('a file is a program by its name or by its type', () => {
  const programs = [
    ['setup.exe', 'text/plain'],
    ['notes.JS ', 'text/plain; charset=utf-8'],
    ['invoice', 'application/x-msdownload'],
    ['invoice.pdf', 'application/vnd.microsoft.portable-executable'],
    ['invoice', 'Application/X-MSDOS-Program; name=invoice'],
    ['invoice', 'application/x-msi'],
    ['page', 'application/hta'],
    ['lines', 'text/javascript'],
    ['lines', 'application/x-javascript; charset=utf-8'],
    ['lines', 'text/vbscript'],
    ['app', 'application/java-archive'],
  ];
  const files = [
    ['exe.txt', 'text/plain'],
    ['invoice.pdf', 'application/pdf'],
    ['data', 'application/json'],
    ['report.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['unknown', 'application/octet-stream'],
    ['mail.eml', 'message/rfc822'],
  ];
  const areAll = (list: string[][]) =>
    list.map(([filename = '', contentType = '']) => isProgram({ filename, contentType }));
  expect(areAll(programs)).toEqual(programs.map(() => true));
  expect(areAll(files)).toEqual(files.map(() => false));
});
