/**
 * Ends of names of files that Windows runs when they are opened. Gmail and Outlook both refuse mail with them ("File types blocked in
 * Gmail"; "Blocked attachments in Outlook"), as the reference service does.
 */
const PROGRAM =
  /\.(?:bat|chm|cmd|com|cpl|exe|hta|jar|js|jse|lnk|msc|msi|msp|pif|ps1|reg|scf|scr|vbe|vbs|wsf|wsh)[\s.]*$/i;

/** Returns whether a file with this name is run when it is opened. */
export function isProgramName(filename: string): boolean {
  return PROGRAM.test(filename);
}
