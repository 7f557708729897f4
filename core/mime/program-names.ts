/**
 * Ends of names of files that Windows runs when they are opened, and of disks and packages that it opens with a program inside. Gmail or Outlook
 * refuses mail with them ("File types blocked in Gmail"; "Blocked attachments in Outlook"), most of them both.
 */
const PROGRAM =
  /\.(?:appx|appxbundle|bat|chm|cmd|com|cpl|exe|hta|img|iso|jar|jnlp|js|jse|lnk|msc|msi|msix|msixbundle|msp|pif|ps1|reg|scf|scr|url|vb|vbe|vbs|vhdx?|wsc|wsf|wsh|xll)[\s.]*$/i;

/** Types that such files are sent as. A name without an end gets one by its type, as browsers save it. */
const PROGRAM_TYPE = new RegExp(
  `^(?:${[
    'application/(?:x-)?(?:ms-?dos-program|msdownload|dosexec|exe|winexe|bat|msi|ms-installer|ms-shortcut|powershell|vbscript)',
    'application/vnd\\.microsoft\\.portable-executable',
    'application/(?:hta|java-archive|x-java-archive)',
    '(?:application|text)/(?:x-)?(?:java|ecma|j|vb)script(?:\\.encode)?',
  ].join('|')})\\s*(?:;|$)`,
  'i',
);

/** Returns whether a file with this name is run when it is opened. */
export function isProgramName(filename: string): boolean {
  return PROGRAM.test(filename);
}

/** Returns whether a file is run when it is opened, by its name or by what its sender says that it is: either is enough. */
export function isProgram({ filename, contentType }: { filename: string; contentType: string }): boolean {
  return isProgramName(filename) || PROGRAM_TYPE.test(contentType.trim());
}
