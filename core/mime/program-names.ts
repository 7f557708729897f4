/**
 * Ends of names of files that Windows runs when they are opened, and of disks and packages that it opens with a program inside. Gmail or Outlook
 * refuses mail with them ("File types blocked in Gmail"; "Blocked attachments in Outlook"), most of them both.
 */
const PROGRAM =
  /\.(?:appx|appxbundle|bat|chm|cmd|com|cpl|exe|hta|img|iso|jar|jnlp|js|jse|lnk|msc|msi|msix|msixbundle|msp|pif|ps1|reg|scf|scr|url|vb|vbe|vbs|vhdx?|wsc|wsf|wsh|xll)[\s.]*$/i;

/** Returns whether a file with this name is run when it is opened. */
export function isProgramName(filename: string): boolean {
  return PROGRAM.test(filename);
}
