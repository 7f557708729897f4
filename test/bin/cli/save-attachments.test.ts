import { expect, test } from 'vitest';
import { fileName } from '../../../bin/cli/save-attachments.ts';

test.each([
  ['report.pdf', 'report.pdf'],
  ['../../.ssh/authorized_keys', '_.._.ssh_authorized_keys'],
  ['.bashrc', 'bashrc'],
  ['-rf', 'rf'],
  ['a\u{1b}[31m\nb.txt', 'a b.txt'],
  ['..', 'attachment-1'],
  [`${'ü'.repeat(300)}.txt`, `${'ü'.repeat(98)}.txt`],
])('an attachment called %j is saved as %j', (given, name) => {
  expect(fileName(given, 0)).toBe(name);
});
