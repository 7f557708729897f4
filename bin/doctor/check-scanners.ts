import { pingClamd, pingRspamd, type ScannerFault } from '../../actors/screening/ping-scanners.ts';
import type { Config } from '../config.ts';
import { type Finding, toFindings } from './finding.ts';

const { ok, skip, warn, fail } = toFindings('scanners');

/** Checks whether the scanners for spam and viruses respond. */
export async function checkScanners({ scanners: { spam, virus } }: Config): Promise<Finding[]> {
  if (spam === null && virus === null)
    return [skip('scanners', 'mail is not checked for spam and viruses: RSPAMD_URL and CLAMD_ADDRESS are not set')];
  return Promise.all([
    ...(spam === null
      ? []
      : [
          pingRspamd(spam.url).then((fault) => report('rspamd', `${spam.url} responds`, fault, spam.whenAway)),
          pingRspamd(spam.controllerUrl, 'RSPAMD_CONTROLLER_URL').then((fault) =>
            report('learning', `${spam.controllerUrl} responds`, fault, 'accept'),
          ),
        ]),
    ...(virus === null
      ? []
      : [pingClamd(virus.address).then((fault) => report('clamd', 'clamd responds', fault, virus.whenAway))]),
  ]);
}

/** Mail that is accepted unchecked is a warning; mail that waits or is refused is a failure. */
function report(name: string, detail: string, fault: ScannerFault, whenAway: string): Finding {
  if (fault === null) return ok(name, detail);
  return whenAway === 'accept' ? warn(name, fault.detail, fault.fix) : fail(name, fault.detail, fault.fix);
}
