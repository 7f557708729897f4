import { saysFull } from './full-mailbox.ts';

/** The recipient is there, and set up for other mail: `isn't set up to accept encrypted mail`, `did not find your message acceptable`. */
const IS_THERE =
  /^(?!.*(?:(?<!\p{L})(?:not|no|nor|never|none)(?!\p{L})|n't)).*(?<!\p{L})in (?:our|the|a) (?:\p{L}{2,12} )?list of|(?<!\p{L})(?:isn't|is not|not|aren't|are not) (?:yet )?(?:set up|assigned|configured|hosted|registered|enabled|created) (?:here )?(?:to (?!this|that|any|us)\p{L}|for (?:this|that|the) (?:user|mailbox|recipient)|as |yet)|did not find your|(?<!\p{L})(?:premium|vip)[- ]?(?:account|user|mailbox|recipient|be?nutzer|nutzer|kund|kont|postfach)|(?<!\p{L})never had an? (?:conversation|contact|correspondence|exchange|agreement)/u;

/** The recipient does not know the sender: `has never heard of you`. */
const OF_SENDER = /(?<!\p{L})never heard of (?:you|your|the sender|this sender)(?!\p{L})/u;
/** A day or an hour, and not the reason in `due to`. */
const MOMENT = String.raw`(?:the )?(?:\d|noon|midnight|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|further)`;
/** It is so at times, and the recipient is there again: `not in service between 2 and 4 a.m.`. What is closed from a day on is not. */
const AT_TIMES = new RegExp(
  `(?<!\\p{L})(?:closed|not in service|not in use|not used|not read|not available|unavailable) (?:(?:between|until|outside|during(?! \\d{4}(?!\\d))|at night|at weekends?)(?!\\p{L})|from (?=\\d)[^.;!?]{0,30}?(?:\\d:\\d\\d|\\d ?(?:[ap]\\.?m|h|uhr)(?!\\p{L})|(?<!\\p{L}|due )(?:to|till|until|through) ${MOMENT}|\\s[–-]\\s\\d)|(?:on|over) (?:the )?(?:weekends?|holidays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)(?!\\p{L}))`,
  'u',
);

/** Nothing is known of the recipient: `It is not known whether the recipient exists`, `Unable to check if the mailbox exists`. */
const WHETHER =
  /(?<!\p{L})(?:known|unknown|unclear|unsure|(?:find|found|figure) out|determine|verify|check|tell|know|say|decide|bekannt|unklar|feststellen|prüfen|ermitteln|sagen) (?:whether|if|ob)(?!\p{L})/u;
/** `The recipient may be invalid`. */
const MAY_BE =
  /(?<!\p{L})(?:may|might|could) (?:(?:also|perhaps|possibly|well|simply) )?be (?:(?:also|temporarily) )?(?:invalid|unknown|wrong|incorrect|illegal|bogus|obsolete|unregistered)(?!\p{L})/u;
/** The client signed in as someone who is unknown: `SMTP AUTH: no such user`. */
const AT_SIGN_IN =
  /(?<!\p{L})(?:smtp |esmtp |sasl )?(?:auth|authentication|login|log-?in|sign-?in|log-?on)(?: (?:failed|failure|error|denied|rejected|unsuccessful)){0,2} ?[:-] ?(?:the |this |your )?(?:no such|unknown|invalid|no|user|username|account)(?!\p{L})/u;

/** Says that one of two things is true. */
export const ALTERNATIVE =
  /\/|(?<!\p{L})(?:or|oder|bzw|ou|o|of|eller|tai|lub|albo|nebo|alebo|vagy|sau|или|або|veya|ή|או|أو|ili|ali)(?!\p{L})|或|または|또는/u;

/** Returns whether a clause, in lower case, says of a recipient that it is there, or that nothing is known of it, or speaks of someone else. */
export function isUncertain(clause: string): boolean {
  return IS_THERE.test(clause) || saysNothing(clause);
}

/** As {@link isUncertain}, of what is beside any wording for an unknown recipient. */
export function saysNothing(clause: string): boolean {
  if ([OF_SENDER, AT_TIMES, AT_SIGN_IN].some((each) => each.test(clause))) return true;
  return (WHETHER.test(clause) || MAY_BE.test(clause)) && !FOR_SURE.test(clause);
}

/** A statement of its own beside such a one: `The address may be invalid: no such user`. */
const FOR_SURE =
  /(?:^|[:,;(]|\s[-–—])[\s\d.#]{0,16}(?:(?:the|this|error|that)[ :]{1,2})?(?:(?:no such|unknown) (?:user|mailbox|recipient|account|address|addressee|alias|host|domain)|(?:user|mailbox|recipient|account|address|addressee|host|domain) (?:(?:is |was )?(?:unknown|not known|not found|invalid)|(?:does|did) not exist|doesn't exist|no longer exists))(?=\s*(?:$|[^\p{L}\s])|\s(?:here|in|at|on|any ?more|called|named)(?!\p{L}))/u;

/** Returns whether a text, in lower case, says that a recipient is unknown or has no room: `User unknown or mailbox full`. */
export function maySayFull(text: string): boolean {
  return ALTERNATIVE.test(text) && saysFull(text);
}

/** Returns whether a refusal names a list of allowed senders or recipients: an address that is missing from it may exist. */
export function isOfAllowList(text: string): boolean {
  return ALLOW_LIST.test(text);
}

const ALLOW_LIST =
  /(?:allow(?:ed)?|white|safe|permit(?:ted)?|approved|trusted|authori[sz]ed)[ -]?(?:senders?['’]?s?[ -])?list(?!\p{L})|list of (?:your |the |its |all )?(?:allowed|approved|permitted|trusted|authori[sz]ed|safe) (?:senders?|contacts?|correspondents)|(?:approved|trusted|allowed|permitted) (?:contacts?|correspondents)|(?:positiv|erlaubnis|frei(?:gabe)?)liste|list(?:e|a) (?:blanche|blanca|bianca|branca|biała|permitid\p{L}{2})|witte lijst|bia(?:ła|łej) li[sś]|бел\p{L}{2,3} списк|білом\p{L} списк|白名[单單]|ホワイトリスト|許可リスト|화이트리스트|허용 ?목록/iu;
