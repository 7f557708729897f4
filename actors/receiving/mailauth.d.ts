/** The checks of mailauth, each from its own file: the package's main file also loads BIMI, an HTTP client and a parser of certificates. */
declare module 'mailauth/lib/arc/index.js' {
  export { arc } from 'mailauth';
}
declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { DKIMVerifyOptions, DKIMVerifyResult } from 'mailauth';

  export class DkimVerifier
    implements Pick<DKIMVerifyResult, 'headers' | 'headerFrom' | 'fromFields' | 'results' | 'arc'>
  {
    constructor(options: DKIMVerifyOptions);
    headers: DKIMVerifyResult['headers'];
    headerFrom: DKIMVerifyResult['headerFrom'];
    fromFields: DKIMVerifyResult['fromFields'];
    results: DKIMVerifyResult['results'];
    arc: DKIMVerifyResult['arc'];
    /** the byte before the next write */
    lastByte: number;
    /** Reads the header section. */
    emitHeaders(section: Buffer): Promise<void>;
    /** Reads a part of the body. */
    writeAsync(bytes: Buffer): Promise<void>;
    /** Checks the signatures. */
    finish(): Promise<void>;
  }
}
declare module 'mailauth/lib/dmarc/index.js' {
  export { dmarc } from 'mailauth';
}
declare module 'mailauth/lib/spf/index.js' {
  export { spf } from 'mailauth';
}
