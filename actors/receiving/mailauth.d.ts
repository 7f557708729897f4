/** The checks of mailauth, each from its own file: the package's main file also loads BIMI, an HTTP client and a parser of certificates. */
declare module 'mailauth/lib/arc/index.js' {
  export { arc } from 'mailauth';
}
declare module 'mailauth/lib/dkim/verify.js' {
  export { dkimVerify } from 'mailauth';
}
declare module 'mailauth/lib/dmarc/index.js' {
  export { dmarc } from 'mailauth';
}
declare module 'mailauth/lib/spf/index.js' {
  export { spf } from 'mailauth';
}
