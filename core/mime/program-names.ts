/**
 * Ends of names of files that Windows runs when they are opened. Gmail and Outlook both refuse mail with them ("File types blocked in
 * Gmail"; "Blocked attachments in Outlook"), as the reference service does.
 */
const PROGRAM =
  /\.(?:bat|chm|cmd|com|cpl|exe|hta|jar|js|jse|lnk|msc|msi|msp|pif|ps1|reg|scf|scr|vbe|vbs|wsf|wsh)[\s.]*$/i;

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
