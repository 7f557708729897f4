import { saysFull } from './full-mailbox.ts';

/** The recipient is there, and set up for other mail: `isn't set up to accept encrypted mail`, `did not find your message acceptable`. */
const IS_THERE =
  /^(?!.*(?:(?<!\p{L})(?:not|no|nor|never|none)(?!\p{L})|n't)).*(?<!\p{L})in (?:our|the|a) (?:\p{L}{2,12} )?list of|(?<!\p{L})(?:isn't|is not|not|aren't|are not) (?:yet )?(?:set up|assigned|configured|hosted|registered|enabled|created) (?:here )?(?:to (?!this|that|any|us)\p{L}|for (?:this|that|the) (?:user|mailbox|recipient)|as |yet)|did not find your|(?<!\p{L})(?:premium|vip)[- ]?(?:account|user|mailbox|recipient|be?nutzer|nutzer|kund|kont|postfach)|(?<!\p{L})never had an? (?:conversation|contact|correspondence|exchange|agreement)/u;

/** The recipient does not know the sender, or its own times: `has never heard of you`, `is not in service between 2 and 4 a.m.`. */
const OF_SENDER_OR_TIME =
  /(?<!\p{L})never heard of (?:you|your|the sender|this sender)(?!\p{L})|(?<!\p{L})(?:closed|not in service|not in use|not used|not read|not available|unavailable) (?:between|until|during|outside|from \d|at night|at weekends?|(?:on|over) (?:the )?(?:weekends?|holidays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?))(?!\p{L})/u;

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
  return [OF_SENDER_OR_TIME, WHETHER, MAY_BE, AT_SIGN_IN].some((each) => each.test(clause));
}

/** Returns whether a text, in lower case, says that a recipient is unknown or has no room: `User unknown or mailbox full`. */
export function maySayFull(text: string): boolean {
  return ALTERNATIVE.test(text) && saysFull(text);
}
