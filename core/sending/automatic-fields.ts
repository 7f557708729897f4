import { AUTOMATIC_FIELDS } from '../mime/automatic-text.ts';

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
  /\bauto-?(?:respon[ds]|reply|answer)|\b(?:vacation|out ?of ?office|ooo agent|monit|nagios|icinga|zabbix|logwatch|otrs|znuny|bugzilla|mantis(?:bt)?|phplist|majordomo|listserv|ezmlm|sympa|mailman|kayako|kana response|zendesk mailer|jira|servicenow)\b/;

/** Subjects that people write as well, who ask for leave or write about a car. */
export const ABOUT_ABSENCE =
  /(?:^|: {0,3})(?:on vacation|vacation|absen|message d'absence|on leave|on holiday|away|i am away|abwesen|afwezig|fuori|ausência|frånvar|fravær|poissa|nieobecn|nepřítomn|távollét|отсутств|不在|부재중|auto: |i am |i'm |ich bin |je suis |estoy |sono |estou |ik ben |jestem |jag är |jeg |olen |szabadságon |jsem |som |sunt |я |tatildeyim|izindeyim|είμαι |אני |أنا |休暇|正在休假|휴가)/;
export const REPLY_SUBJECT = /^(?:re|aw|sv|antw?|vs|odp|ynt|rif|回复|答复|回覆)\s{0,3}[:：]/;

/** Fields of mail that a calendar wrote for a person: of Exchange, and the address from which Google and others send it. */
export const CALENDAR_FIELDS: ReadonlyMap<string, RegExp> = new Map([
  ['content-class', /calendarmessage/i],
  ['sender', /calendar-(?:notification|noreply|server)s?@/i],
  ['x-mailer', /^(?:google|zimbra|icloud|zoho|lark|fastmail) calendar/i],
]);

/** Subjects of responses to invitations, which calendars write. */
export const CALENDAR_RESPONSE =
  /^(?:accepted|declined|tentative|tentatively accepted|zugesagt|abgesagt|abgelehnt|mit vorbehalt|accepté|refusé|provisoire|aceptad|rechazad|provisional|accettat|rifiutat|provvisori|aceit|recusad|geaccepteerd|geweigerd|afgewezen|voorlopig|accepteret|afslået|accepterat|avböjt|godtatt|avslått|hyväksytty|hylätty|zaakceptowan|odrzucon|přijat|odmítnut|elfogadva|elutasítva|принято|отклонено|прийнято|kabul edildi|reddedildi|承诺|已接受|已拒绝|承諾|辞退|仮の予定|수락됨|거절됨)/;

/** Nouns with which help desks begin the subject of an acknowledgement. */
export const ACKNOWLEDGEMENT_NOUN = new RegExp(
  String.raw`^\[?(?:${[
    'acknowledge?ment|(?:support |service |help ?desk |new )?(?:ticket|request|case|enquiry|inquiry|message|e-?mail) (?:(?:no\\.? ?|nr\\.? ?|#)?[a-z]{0,4}[\\d-]{2,20} )?(?:has been |was )?(?:received|created|opened|registered|logged|acknowledged)|receipt of your|confirmation of receipt',
    'eingangsbestätigung|empfangsbestätigung|anfrage erhalten|ticket (?:erstellt|eröffnet)|accusé de réception|demande (?:reçue|enregistrée)|acuse de recibo|solicitud recibida|ticket creado|conferma di (?:ricezione|ricevimento)|avviso di ricevimento|richiesta ricevuta|confirmação de (?:recebimento|receção|recepção)|solicitação recebida|pedido recebido',
    'ontvangstbevestiging|verzoek ontvangen|potwierdzenie (?:otrzymania|przyjęcia|odbioru)|potvrzení (?:o )?přijetí|potvrdenie o prijatí|visszaigazolás|confirmare de primire|mottagningsbekräftelse|mottaksbekreftelse|modtagelsesbekræftelse|kvittering for modtagelse|vastaanottovahvistus|подтверждение (?:получения|регистрации)|заявка (?:принята|зарегистрирована)|підтвердження отримання|потвърждение за получаване|επιβεβαίωση παραλαβής|alındı onayı|talebiniz alındı',
    '受付(?:完了|確認|のお知らせ)|お問い合わせ(?:を受け付けました|受付)|回执|收到您的|工单(?:已创建|已受理)|접수 ?(?:완료|확인|안내)|تأكيد الاستلام|אישור קבלה',
  ].join(
    '|',
  )})(?:\]|\s{0,2}(?:[:：#–—（(【\[-]|$)| (?:for|of|zu|de|d'|til|för|av|o|к|по|№|nr)(?![\p{L}])|(?: \p{L}{2,20}){1,3} \W{0,3}\d)`,
  'u',
);

/** Sentences about a request that help desks have received, which people write about other things as well. */
export const ACKNOWLEDGEMENT_SENTENCE = new RegExp(
  [
    String.raw`^(?:we(?: have|.ve)? received your|wir haben ihre .{1,40} erhalten|nous avons (?:bien )?reçu votre|hemos recibido su|abbiamo ricevuto la|recebemos (?:a )?su)`,
    String.raw`^(?:your|ihre?|votre|su|tu|la sua|sua|uw|twoj|twoje|vaš|vaše|ваш[аеу]?|din|ditt) .{1,60}(?:has been (?:received|created|registered|logged|opened)|was received|is received|wurde (?:registriert|erfasst|empfangen|erstellt)|ist (?:bei uns )?eingegangen|a (?:bien )?été (?:reçue?|enregistrée?|créée?)|ha sido (?:recibid|registrad|cread)[oa]|è stat[oa] (?:ricevut|registrat|creat)[oa]|foi (?:recebid|registrad|criad)[oa]|is (?:ontvangen|geregistreerd)|został[oa]? (?:przyjęt|zarejestrowan)[aey]|(?:был[аи]? )?(?:принят|зарегистрирован|получен)[аоы]?|har (?:mottagits|registrerats|modtaget))`,
    String.raw`^(?:thank you|thanks|danke|vielen dank|merci|gracias|grazie|obrigad[oa]) (?:for|für|de|por|per) (?:contacting|reaching out|getting in touch|your (?:enquiry|inquiry|ticket|request)|ihre (?:anfrage|kontaktaufnahme)|nous avoir contact|votre demande|contactar|su (?:consulta|solicitud)|averci contattato|la (?:sua|tua) richiesta|entrar em contato|sua solicitação)`,
  ].join('|'),
  'u',
);

/** The number of a ticket in a subject, and not of an invoice or a parcel: `[#4711]`, `Ticket ABC-123`, `Vorgang Nr. 4711`. */
export const TICKET_NUMBER =
  /[[(【]\s?(?:#\s?\d{2,}|[a-z]{2,10}[-#:]\s?\d{2,})|(?<!\p{L})(?:ticket|case|request|incident|enquiry|inquiry|support|vorgang|anfrage|fall|demande|dossier|solicitud|caso|incidencia|richiesta|pratica|solicitação|chamado|verzoek|melding|aanvraag|ärende|sag|sak|zgłoszenie|požadavek|заявк[аи]|обращени[ея]|запрос|talep|工单|案件|受付番号|접수번호)[- ]?(?:id|nr|no|number|nummer|numéro|número|numero|číslo|номер|n°|nº|№)?[.:]?\s{0,2}[#№]?\s?[a-z]{0,6}-?\d{2,}/u;

/** A number that is no year. */
export const PLAIN_NUMBER = /(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{3,}/;

/** What people say about an acknowledgement that they miss or ask for. */
export const OWN_REQUEST =
  /(?<!\p{L})(?:my|mine|please|missing|meiner?|bitte|fehlt|ma|mon|mes|mi|mis|mia|mio|minha|meu|mijn|min|mitt|moje|mojego|mého|мое[йг]о?|мою)(?!\p{L})/u;

/** Addresses of help desks, which acknowledge requests by themselves. */
export const HELP_DESK_ADDRESS =
  /^(?:.{0,40}[._+-])?(?:support|help|help-?desk|service-?desk|service|tickets?|ticketing|hotline|customer-?(?:care|service|support)|kundenservice|kundendienst|hilfe|soporte|suporte|assistance|assistenza|atendimento|no-?reply|do-?not-?reply)(?:[._+-].{0,40})?@/i;

/** Fields of help desks, whose agents answer with them as well. */
export const HELP_DESK_FIELD =
  /^x-(?:zendesk|freshdesk|fd|fw|help-?scout|hs|hubspot|odoo|sfdc|zoho-?desk|kayako|otrs|znuny|osticket|glpi|itop|gorgias|intercom|front|zammad|kustomer|deskpro)(?:-|$)/;
