import { AUTOMATIC_FIELDS } from '../mime/report-text.ts';

/** Fields whose presence marks mail of a list server, of a program that guards against loops, or of one that sends by itself. */
export const MARKING_FIELDS: ReadonlySet<string> = new Set([
  ...AUTOMATIC_FIELDS,
  // list servers: Mailman, Sympa, ezmlm, Listserv, Majordomo, Yahoo and Google groups, Japanese fml
  'mailing-list',
  'x-mailing-list',
  'x-beenthere',
  'x-mailman-version',
  'x-loop',
  'x-listname',
  'x-listserver',
  'x-listmember',
  'x-sequence-list',
  'x-google-group-id',
  'x-google-loop',
  'x-yahoo-newman-property',
  'x-list',
  'x-mailinglist',
  'x-sequence',
  'x-mlserver',
  // bulk senders
  'x-campaign',
  'x-campaignid',
  'x-campaign-id',
  'x-mailer-recptid',
  'x-mc-user',
  'x-csa-complaints',
  'x-report-abuse-to',
  // servers and their rules
  'x-failed-recipients',
  'x-ms-exchange-generated-message-source',
  'x-ms-exchange-inbox-rules-loop',
  'x-ms-exchange-parent-message-id',
  'x-cron-env',
  'rt-ticket',
  'rt-originator',
  'x-mdautoresponder',
  'x-fc-machinegenerated',
  'x-mailgun-notification',
  // help desks and trackers that mark what they send by themselves
  'x-otrs-loop',
  'x-znuny-loop',
  'x-rt-loop-prevention',
  'x-rt-ticket',
  'x-zammad-auto-reply',
  'x-osticket-auto-response',
  'x-spiceworks-auto-response',
]);

/**
 * Names such as X-Auto-Reply-From, X-Foo-Autoresponder, X-Vacation, X-Out-Of-Office and X-Foo-Loop. X-Auto-Response-Suppress has values of
 * its own.
 */
export const MARKING_NAME =
  /^x-(?:[a-z0-9]+-){0,4}(?:auto-?(?:reply|replied|replier|respond|responder|response|answer|generated|notification|submitted|ack|acknowledg(?:e|ement))(?:-[a-z0-9]+){0,2}|vacation(?:-[a-z]+)?|out-?of-?office(?:-[a-z]+)?|oof|away-?message|loop(?:-?(?:prevention|detect(?:ion)?|protection|check|id|count))?(?:-(?:from|to|for|id|by|type|sent|mail|message))?)$/;

/** Programs that notify and list servers, whose fields begin with their names: X-Jenkins-Job, X-Sympa-To, X-GitLab-Project. */
const PROGRAMS = [
  // list servers, and programs that ask senders to confirm
  'sympa|majordomo|ecartis|ezmlm|lyris|groupsio|ml|mlmmj|listserv|mailman|discourse|tmda|boxtrapper|spamarrest|knowspam|mailblocks',
  // trackers
  'jira|atlassian|confluence|bugzilla|redmine|openproject|trac|mantis(?:bt)?|gnats|debian-pr|youtrack|launchpad|phabricator|gerrit|reviewboard',
  'github|gitlab|bitbucket|gitea|forgejo|sourceforge|servicenow|asana|trello|basecamp|clickup|monday|notion|taiga',
  // builds and monitoring
  'jenkins|travis|circleci|teamcity|bamboo|buildbot|hudson|nagios|icinga2?|zabbix|prtg|sentry|pagerduty|opsgenie|statuspage|grafana|prometheus|logwatch',
].join('|');
export const PROGRAM_FIELD = new RegExp(`^x-(?:${PROGRAMS})(?:-|$)`);

/** Mail programs that write by themselves, in X-Mailer and User-Agent. */
export const PROGRAM_MAILER =
  /\bauto-?(?:respon[ds]|reply|answer)|\b(?:vacation|out ?of ?office|ooo agent|monit|nagios|icinga|zabbix|logwatch|otrs|znuny|bugzilla|mantis(?:bt)?|phplist|majordomo|listserv|ezmlm|sympa|mailman|kayako|zendesk mailer|jira|servicenow)\b/;

/** Subjects that people write as well, who ask for leave or write about a car. */
export const ABOUT_ABSENCE =
  /(?:^|: {0,3})(?:on vacation|vacation|absen|message d'absence|on leave|on holiday|away|i am away|abwesen|afwezig|fuori|ausência|frånvar|fravær|poissa|nieobecn|nepřítomn|távollét|отсутств|不在|부재중|auto: )/;
export const REPLY_SUBJECT = /^(?:re|aw|sv|antw?|vs|odp|ynt|rif|回复|答复|回覆)\s{0,3}[:：]/;

/** Subjects of responses to invitations, which calendars write. */
export const CALENDAR_RESPONSE =
  /^(?:accepted|declined|tentative|tentatively accepted|zugesagt|abgesagt|abgelehnt|mit vorbehalt|accepté|refusé|provisoire|aceptad|rechazad|provisional|accettat|rifiutat|provvisori|aceit|recusad|geaccepteerd|geweigerd|afgewezen|voorlopig|accepteret|afslået|accepterat|avböjt|godtatt|avslått|hyväksytty|hylätty|zaakceptowan|odrzucon|přijat|odmítnut|elfogadva|elutasítva|принято|отклонено|прийнято|kabul edildi|reddedildi|承诺|已接受|已拒绝|承諾|辞退|仮の予定|수락됨|거절됨)/;
