import type { RefusalReason } from './refusal-advice.ts';
import { listWords } from './word-patterns.ts';

/** Maximum characters that `...` in a wording matches. */
export const GAP = 90;

/**
 * Wordings of mail servers for a refusal, lower case, by reason, separated by `|`. `...` matches up to {@link GAP} characters, `@host`
 * for a host name. The first reason with a wording in the text wins, so exact wordings precede general ones. Add a wording where its
 * meaning is, whatever its language; a wording that also appears in refusals for another reason does not belong here.
 */
const TEXTS: readonly (readonly [RefusalReason, string])[] = [
  ['user_unknown', 'recipient verify failed | recipient verification failed'],
  [
    'sender_rejected',
    `
    google groups | sender unknown | verification failed for | while verifying | callback setup failed | sender verify failed`,
  ],
  [
    'network_error',
    `
    connection closed due to inactivity | connection closed for inactivity | session closed due to inactivity | session closed for inactivity |
    not found, try again | not found (try again | connection to recipient's server failed | connection to recipients server failed`,
  ],
  [
    'user_unknown',
    `
    mailbox unavailable or access denied | mailbox ... unavailable or access denied | recipient address rejected: access denied |
    disabled and deleted | disabled and removed | expired and deleted | expired and removed | closed due to inactivity | closed for inactivity | deleted due to inactivity | deleted for inactivity | removed due to inactivity | deactivated and deleted | deactivated and removed | 停用並刪除 | 停用并删除 | 停用且已删除 | not listed in public name | not listed in domino | not listed in the directory | does not have an account here | not email addresses |
    does not resolve to a mailbox | destin. sconosciuto | malformed local | malformed recipient | address is no longer active | unknown or illegal alias`,
  ],
  [
    'recipient_rejected',
    `
    recipient preferences | recipient's preferences | bounced address | user rules | not accepting any mail | restricted sms | account is protected by |
    550 : user unknown | 550: : user unknown | non-western | posta non certificata`,
  ],
  [
    'host_unknown',
    `
    the account or domain may not exist | domain @host has been removed | domain @host was removed | domain @host has been deleted | domain @host was deleted | domain @host is no longer | domain @host no longer | domain has been removed from | domain has been deleted | domain is no longer hosted | domain was deleted | domain @host ist nicht registriert | domain @host nicht registriert | domäne @host ist nicht registriert | recipient's domain could not | recipient's domain was not | recipient's domain does not | domain does not exist | domain name not found | @host does not exist | @host doesn't exist`,
  ],
  [
    'mailbox_full',
    `
    mailbox full | mailbox is full | mailbox has exceeded | mailbox over quota | mailbox size limit | mailbox ... is full |
    mailbox ... over quota | mailbox for user is full | mailbox too full | mail box full | mail box is full | mailbox quota |
    mailfolder is full | mailbox limit | mailbox currently full | mailbox would exceed | full mailbox | inbox is full | inbox full |
    over quota | over-quota | overquota | exceeds quota | exceeded quota | exceeded ... quota | exceeded ... storage |
    exceeding ... quota | exceed ... quota | quota exceeded | quota has been exceeded | quota is full | quota full | quotaexceeded |
    quota violation | user has exhausted ... storage | exceeded storage allocation | out of storage space | out of space |
    not enough storage space | overquotatemp | not enough space | insufficient storage | storage limit | storage quota |
    account is full | account full | account is exceeding | user is over | maildir is full | maildir delivery failed: user...quota |
    mailbox storage | no space left in mailbox | disk quota | user ... disk quota | too many messages in this mailbox |
    exceeded his/her | has reached ... quota | dd requested mail action aborted: exceeded | message count quota | mailbox ... full |
    meldung: postfach voll | postfach ist voll | postfach voll | speicherplatz | boîte pleine | boite pleine |
    boîte aux lettres ... pleine | espace ... insuffisant | buzón lleno | buzon lleno | buzón ... lleno | casella piena |
    casella ... piena | caixa postal cheia | caixa ... cheia | mailbox vol | postvak vol | brevlådan är full | postkassen er fuld |
    postboks ... full | skrzynka ... pełna | przepełniona | schránka ... plná | переполнен | ящик ... заполнен | posta kutusu dolu |
    kotası | メールボックスが一杯 | メールボックスの容量 | メールボックスがいっぱい | 容量を超え | 容量オーバー | 邮箱已满 | 邮箱空间 | 信箱已滿 | 超过配额 | 용량이 초과 | 용량 초과 | 메일함 ... 가득 | hộp thư ... đầy |
    space has been used up | mailbox exceeds | recipient storage full | boite ... pleine | too many messages on the server |
    enough space`,
  ],
  [
    'message_too_large',
    `
    message too large | message is too large | message too big | message is too big | message ... too big | message exceeds ... size |
    message size exceeds | message length exceeds | message file too big | message header size exceeds | exceeds ... message size |
    exceeds maximum size | exceeded ... message size | exceeded the size limit | maximum message size | message size limit |
    message ... larger than | size limit exceeded | size limit of | sizelimit | size exceeds | exceeds size limit | exceeds size |
    exceeds the maximum | too large for | larger than ... allowed | mail is too big | mail too big | message length limit |
    message size | nachricht ist zu groß | nachricht zu groß | message trop volumineux | mensaje demasiado grande |
    messaggio troppo grande | слишком большой | メールサイズ | 邮件过大 | 邮件太大`,
  ],
  [
    'virus',
    `
    virus | malware | infected | trojan | worm found | phishing attack | ransomware | ウイルス | 病毒 | вирус`,
  ],
  [
    'missing_reverse_dns',
    `
    reverse dns | rdns | ptr record | no ptr | missing ptr | requires a ptr | ptr lookup | a ptr | ptr-record |
    cannot find your reverse hostname | cannot find your hostname | could not find your reverse | cannot resolve your address |
    reverse hostname | reverse lookup | reverse address | no reverse | fix reverse | unresolvable ip | unresolvable helo | cannot resolve ... ip address |
    ip name lookup failed | resolve your client hostname | all ... ptr | client host name ... not found |
    client host rejected: cannot find | does not resolve | fcrdns | hostname is not resolvable | unable to lookup ip |
    ip address without | mail server ip connecting to ... must have | dns ptr | rdns/dns validation | ip name possibly forged`,
  ],
  [
    'authentication_failed',
    `
    dmarc | dkim | spf  | spf: | spf- | spf) | spf. | spf' | openspf | sender policy framework | unauthenticated email |
    unauthenticated mail | is not allowed to send mail from | not authorized to send from | is not allowed to send from |
    authentication checks failed | authentication check failed | message does not pass authentication | email ... unauthenticated |
    fails authentication | sender id (pra) | not a permitted sender | not permitted to send mail from | domain authentication |
    email authentication | arc validation`,
  ],
  [
    'rate_limited',
    `
    too many connections | too many concurrent | too many simultaneous | too many sessions | concurrent connection |
    connection rate | connection limit | too many messages | too many emails | too many mails | too many recipients |
    too many recipient | too many errors | too many invalid | too many unknown | too many ... unknown user | too many ... unknown recipient | too many ... invalid recipient | too many ... nonexist | too many attempts | excessive unknown | excessive userid | excessive user unknown | too many bad | too many requests |
    too many connects | too many hops from | too frequent | too fast | too quickly | rate limit | rate-limit | ratelimit |
    rate limited | rate exceeded | message rate | exceeded ... rate | throttl | sending limit | hourly limit | daily limit |
    limit exceeded ... hour | per hour | messages per | excessive email rate | exceeds ... per connection | slow down |
    receiving mail at a rate | receiving mail too quickly | recipient limit | recipients limit | maximum number of recipients |
    demasiadas conexiones | zu viele | exceeded the maximum number | reached a limit | reached the limit | unusual rate | greylist |
    gray-list | graylist | grey-list | greeted | please try again later (grey | tempfailed ... first time | delayed by postgrey`,
  ],
  [
    'reputation',
    `
    reputation | user complaints | unexpected volume | sender score | senderscore | senderbase | too many spam |
    has sent too much spam | bad history | poor score | low trust`,
  ],
  [
    'relay_denied',
    `
    relay access denied | relay denied | relaying denied | relaying not | relay not permitted | relay not allowed | relaying is |
    relaying prohibited | relay prohibited | no relaying | not permitted to relay | unable to relay | cannot relay | can't relay |
    not relay | relay operation rejected | to relay mail | relay mail for | relay through | relay to ... denied |
    that domain isn't in my list | isn't in my list of allowed | domain isn't allowed to be relayed | insecure mail relay |
    mail server requires authentication when | relaying mail to | not allowed to relay | not authorized to relay |
    unauthorized relay | this is not a relay | open relay | email address is not verified | must check for new mail first |
    not a gateway | we do not relay | external relay`,
  ],
  [
    // Filters say `blocked` of files, too.
    'policy',
    `
    attachment ... not allowed | attachments are not | file type`,
  ],
  [
    'spam',
    `
    spam | unsolicited | junk mail | bulk email | ube, | ube  | uce  | spamassassin | message scored | razor | bayes | rule imposed |
    blacklisted url | url in message | uribl | surbl | message looks like | message content rejected | content rejected |
    unwanted messages | suspicious content | mail appears to be | high probability | 垃圾 | 迷惑メール | スパム | спам | werbung |
    not rfc 2822 ... spam`,
  ],
  [
    'blocked',
    `
    blacklist | black list | black-list | blocklist | block list | block-list | denylist | dnsbl | rbl | spamhaus | spamcop |
    sorbs | barracudacentral | proofpoint | abuseat | listed at | listed in | listed by | on our block | ip address rejected |
    your ip | your network is | ip ... blocked | ip is blocked | blocked - see | blocked using | has been blocked | is blocked |
    blocked by | blocked for | blocked due | blocked because | blocked from | been temporarily blocked | temporarily blocked |
    host rejected | client host | access from ip | connections from | connection rejected | connection blocked | connection denied |
    connection dropped | refused ... connection | refusing connections | not accepting ... from your | bad sender ip |
    invalid ip for | hostname rejected | helo rejected | ehlo rejected | helo command rejected | banned | no access from |
    you are not allowed to connect | not allowed to connect | server access ... forbidden | access forbidden |
    we do not accept mail from hosts | we do not accept mail from dynamic | dynamic ip | dynamic/ | residential |
    domain may not exist | messages from ... weren | mail from your | host not allowed | ip address ... not allowed | sender ip |
    ips with | not allowed access | is not allowed to access | ip address is | allow your ip | intrusion prevention |
    redundant. you cannot send | your email server | error: reject | network ... rejected | cannot find your mail`,
  ],
  [
    'security',
    `
    authentication required | authentication is required | authrequired | authentication failed | authentication credentials |
    must be authenticated | not authenticated | unauthenticated senders | starttls | tls required | must issue a starttls |
    encryption required | encryption needed | not authorized | authorization failed | unauthorized | delivery not authorized |
    authenticate yourself | login required | requires authentication | certificate | sasl  | authentification | failed to delivery |
    insufficient security`,
  ],
  [
    'mailbox_disabled',
    `
    temporary locked | temporarily locked | account is locked | mailbox is locked | locked | frozen | hangup | suspended | account disabled |
    account is disabled | account has been disabled | mailbox disabled | mailbox is disabled | user disabled | user is disabled |
    address disabled | address is disabled | disabled recipient | recipient ... disabled | disabled or discontinued | inactive |
    not active | is no longer active | deactivated | account that you tried to reach is disabled | is disabled | disabled. |
    on hold | discontinued | mailbox is currently unavailable | mailbox currently suspended | has been disabled |
    user account is expired | account expired | account has expired | temporarily disabled | temporarily unavailable mailbox |
    mailbox temporarily | due to inactivity | is restricted | gesperrt | deaktiviert | désactivé | suspendu | заблокирован | отключен | 停用 | 冻结 | 휴면 상태`,
  ],
  [
    'policy',
    `
    policy | policies | protocol violation | potential security | security issue | prohibited | administrative prohibition |
    administratively | unacceptable content |
    rejected by administrator | forbidden | not acceptable | message refused | denied by`,
  ],
  [
    'content_rejected',
    `
    duplicate header | headers too large | header ... not accepted | header error | headers error | improper use of 8-bit |
    invalid header | invalid message | malformed | missing header | mime error | mime header | multiple addresses in from |
    multiple ... addresses in from: header | not compliant | rfc 5322 | rfc 2822 | rfc5322 | rfc2822 | message has no header | message has no from | message has no date |
    message has no subject | message-id |
    charset not accepted | improper | bare line feed | bare lf | bare cr | message filtered | message contains | content filter |
    content- | content check | content restriction | is not rfc | null characters | message body | invalid mime`,
  ],
  [
    'sender_rejected',
    `
    sender address rejected | sender rejected | sender denied | sender is rejected | sender address is | sender was rejected |
    sender ... not allowed | sender not | sender verify failed | sender verification | sender address verification | sender domain |
    sender's domain | invalid sender | bad sender | unknown sender | sender unknown | unable to verify sender |
    could not verify sender | domain of sender | you are not a member | you are not allowed to | you are not permitted |
    not permitted to post | permission to post | permission to send | don't have permission | mail from ... not allowed |
    sending this message is not | not accepted from | access denied | message from ... rejected | rejected from |
    does not accept mail from you | is not in ... allowed | sending to/from | list ... only accepts | members only | only members | on the list of members | not on this list |
    nonmember | non-member | restrictedpost | recipient ... only accepts | from address | backscatter | envelope sender |
    null sender | empty envelope | we do not accept mail from | unroutable sender | unrouteable sender | bogus mail from | sender address ... does not exist | sender address ... doesn't exist | sender address ... not found | sender address ... unknown | user you claim | batv |
    sender refused`,
  ],
  [
    'address_moved',
    `
    has moved | address has changed | recipient no longer on server | user has moved | mailbox has moved | new address is |
    has been replaced | please use the new | moved to | address changed | please forward to | has been changed to |
    user not local; please try`,
  ],
  [
    'mail_not_accepted',
    `
    does not accept mail | does not accept email | not accept any mail | accepts no mail | null mx | nullmx | no mail accepted |
    mx ... is 0 . | no smtp service | domain doesn't accept mail | does not receive mail | does not receive any mail | does not receive any email | accept mail for @host any longer | accept mail for @host any more | no longer accept mail for @host | no longer accepts mail for @host | mail receiving disabled |
    all relevant mx records point to non-existent | lowest numbered mx record points to local | cname_lookup_failed_permanently |
    no mx for | has no mail exchanger | cannot receive mail | not configured to receive mail | not configured to receive email | not configured to receive e-mail | not set up to receive mail for | do not receive mail for | do not receive email for | never receives mail | never receives email | domaine @host n'accepte pas de courrier | domaine @host n'accepte pas d'e-mail | domaine @host n'accepte aucun courrier | domaine @host ne reçoit pas de courrier | domaine @host ne reçoit pas d'e-mail | domain @host nimmt keine mail | domain @host nimmt keine e-mail | domain @host empfängt keine mail | domain @host empfängt keine e-mail | dominio @host no acepta correo | dominio @host no recibe correo | dominio @host non accetta posta | dominio @host non riceve posta | domínio @host não aceita e-mail | domínio @host não recebe e-mail | domein @host accepteert geen mail | domein @host ontvangt geen mail | домен @host не принимает почту | non-existent hosts | invalid mx | illegal host/domain |
    lowest-numbered mx | although i'm listed as a best-preference mx | no mx record found`,
  ],
  [
    'host_unknown',
    `
    host unknown | dns hard error | unknown host | host not found | host name not found | domain not found | domain name not | no such host |
    no such domain | unknown domain | unrouteable | unroutable | adresse non routable | dirección no enrutable | adres nierutowalny | nicht routbar |
    name service error | nxdomain | no route for recipient domain | couldn't find any host named | could not find any host |
    couldn't find ... host | dns lookup failure | domain is not found | domain is not known | domain is not valid |
    domain is not registered | domain has expired | domain @host has expired | domain expired | bogus domain | bad domain | wrong domain | domain not in service | no a or mx | no mx or a | has no mx | no valid mx |
    domain is not hosted | domain is not reachable | recipient domain must exist | domain invalid |
    domain ... unknown | illegal domain | bad destination host | bad destination system | no data known | host ... not found |
    dns error | no matches to nameserver query | no answer from host name | this domain is not hosted here | mail domain unknown |
    not a valid domain | domain couldn | domain unknown | non-existent domain | unknown server | responded with code nxdomain |
    domäne ... nicht | domain ... nicht gefunden | домен ... не | ドメインが見つかりません | 域名不存在`,
  ],
  [
    'user_unknown',
    `
    user unknown | unknown user | unknown recipient | unknown mailbox | unknown address | unknown account | unknown local |
    unknown or illegal |  recipient unknown | mailbox unknown | account unknown | address unknown |
    user not found | user ... not found | recipient not found | recipnotfound | recipientnotfound | mailbox not found |
    mailbox ... not found | account not found | address not found | email address wasn | email address couldn't be found |
    address couldn | not found by smtp address lookup | no such user | no such mailbox | no such address | no such recipient |
    no such account | no such local user | no such person | no such email | no mailbox here | no mailbox by that name | no mailbox |
    no account by that name | no user | no valid recipient | nosuchuser | does not exist | doesn't exist |
    do not exist | no existe | n'existe pas | non esiste | não existe | existiert nicht | nicht vorhanden | bestaat niet |
    nie istnieje | neexistuje | не существует | не найден | не знайден | findes ikke | finns inte | finnes ikke | ei ole olemassa |
    mevcut değil | bulunamadı | δεν υπάρχει | 不存在 | 存在しません | 見つかりません | リストにありません | 该用户 | 없는 | không tồn tại | invalid recipient |
    invalid mailbox | invalid address | invalid user | invalid local | invalid final delivery userid | invalid email address |
    recipient invalid | address invalid | adresse ... invalide | destinataire invalide | empfänger ... ungültig |
    empfänger unbekannt | benutzer unbekannt | unbekannter empfänger | unbekannter benutzer | destinataire inconnu |
    utilisateur inconnu | usuario desconocido | destinatario desconocido | utente sconosciuto | destinatario sconosciuto |
    usuário desconhecido | destinatário desconhecido | onbekende gebruiker | recipient name is not recognized |
    recipient is not recognized | unrecognized recipient | not a valid | not a known user | not known | is not a user |
    user is unknown | not our customer | not listed in | recipient not listed | isn't listed | not in ... directory |
    not in the address book | not recognised | no longer valid | no longer available | no longer exists | no longer here |
    no longer in use | no longer employed | recipient address rejected: undeliverable | undeliverable address | bad address |
    bad recipient | bad rcpt | no one here by | nobody by that | bad mailbox | bad destination mailbox | mailbox unavailable | mailbox not available | mailbox is unavailable |
    mailbox name not allowed | mailbox syntax | doesn't have ... account | does not have ... account |
    no one by that name | never existed | is not known | dosn't exist | email account that you tried to reach |
    destination unknown | delivery to ... not possible | user doesn | recipient address ... unknown | address does not |
    user have been | could not be found | unable to find | 5.1.0 address rejected | not present in directory | can't accept user |
    addresses were unknown | server rejected recipients | not an active address | mailbox not present | mailbox unavaiable |
    nessun utente | no mail box | account unavailable | account is unavailable | not a local address | not a local user | not a local mailbox |
    recipient is not local | invalid-recipient | recipient is not accepted |
    recipient not ok | user ... not ok | badrcptto | badrecipientto |
    not in my validrcptto | no one at this address | address no longer accepts mail | missing home directory |
    unknown virtual user | non-existent user | nonexistent user | non-existent mailbox | nonexistent mailbox |
    non-existent recipient | nonexistent recipient | @addr was not found | userunknown | unknown e-mail | unknown email | email does not exist | e-mail does not exist | email doesn't exist | archived recipient |
    wrong recipient | wrong address | addressee unknown | unknown addressee | not a member of domain |
    lookup in domain map failed | recipients was undeliverable | recipient cannot be verified | account closed | account is closed |
    account has been closed | mailbox has been closed | account deleted | account has been deleted | account was deleted |
    mailbox deleted | mailbox has been deleted | user deleted | user has been deleted | user has been removed | user was removed |
    recipient has been deleted | recipient has left | recipient left | user left | retired account | no longer an employee |
    no longer on server | handle mail for that user | handle mail for this user | cannot deliver mail for | bad destination email |
    incorrectly addressed | no such id | in name directory | found in passwd | not found in active directory | not in virtual mailbox | not in virtual alias | not in local recipient | not in recipient map | not in relay recipient | unknown in local | unknown in virtual | not in aliases | this name is unknown | he does not work here | she does not work here | he no longer works | she no longer works | address rejected - unknown | found in ldap | in the address list |
    no one with that | specify a valid notes mail file |
    no email address registered | no e-mail address registered | found in directory | unavailable to take delivery |
    unavailable mailbox | unavailable mail user | no vaild recipient | address not on file | cannot route to | name cannot be resolved | no such object |
    no entry for | no entry found | no account here | no account for | a registered user | address is obsolete | obsolete address |
    dead address | dead mailbox | address retired | employee has left | longer with the company | longer with us |
    longer works for | ex-employee | not found at the remote site | have their email address registered | no mail-box here | no forwarding address | 查无此人 | 查無此人 | we do not know | we don't know | user have no mail | user has no mail`,
  ],
  [
    // In languages beside English, where the words of an unknown recipient come first.
    'mailbox_disabled',
    `
    disabilitat | disattivat | sospes | deshabilitad | desactivad | inhabilitad | suspendid | desativad | desabilitad | suspensa | suspenso | désactivé |
    uitgeschakeld | gedeactiveerd | inaktivera | avstängd | deaktiver | nieaktywn | wyłączon | dezaktywowan | deaktivován | zakázán | letilt |
    dezactivat | suspendat | деактивирован | приостановлен | отключён | неактивен | вимкнен | призупинен | devre dışı | askıya alın |
    απενεργοποι | מושבת | معطل | vô hiệu hóa | dinonaktifkan | ถูกระงับ | 已禁用 | 被禁用 | 已停用 | 無効に | 利用停止 | 비활성 | 사용 중지`,
  ],
  [
    'expired',
    `
    retry time | timed out | timeout | time out | message expired | expired | queue too long | could not be delivered for |
    could not deliver for | not delivered within | has been delayed | is delayed | delivery temporarily suspended | deferred | retry |
    unable to deliver ... after | exceeded ... time | was aborted after | has been in ... queue | still trying | not responding |
    did not respond | did not accept our requests to connect | keep trying | undelivered after | has not been delivered |
    maximum queue | trying to deliver for`,
  ],
  [
    'network_error',
    `
    network error | no route to host | no route found | network is unreachable | network unreachable | host unreachable | lost connection |
    connection lost | connection reset | connection closed | connection was closed | could not connect | connection refused |
    unable to connect | unable to contact | cannot connect | connect to | too many hops | hop count | mail loop | loops back |
    loop detected | routing loop | mail forwarding loop | name server ... failure | host name lookup failure | no answer from host |
    tls handshake | mx record | socket error | unreachable | routing`,
  ],
  [
    'system_error',
    `
    internal error | internal system error | internal server error | system error | local error | local configuration error |
    configuration error | service unavailable | service not available | service currently unavailable | temporary failure |
    temporary error | temporary local problem | temporarily unavailable | temporary problem | mailer error | unable to process |
    cannot process | try again later | server error | out of memory | disk full | no space left | insufficient disk |
    insufficient system | insufficient resources | resources temporarily | system full | system resources | aliasing/forwarding loop |
    unexpected failure | can't create | cannot open | error writing | error while writing | lock failure | command died |
    command failed | pipe | procmail | database | i/o error | backend | overloaded | maintenance | server busy | transaction failed |
    server configuration | unknown mailer error | overload`,
  ],
  [
    'protocol_error',
    `
    syntax error | syntax | command not | command parameter | bad sequence | unrecognized command | not implemented |
    unrecognised command | parameter | need rcpt | need mail | pipelining | invalid command | command unrecognized`,
  ],
  [
    'recipient_rejected',
    `
    recipient address rejected | recipient rejected | rejected by recipient | rejected by the recipient | rejected by user |
    user refuses | user reject | you have been blocked by the recipient | recipient has | recipient refused | refused by recipient |
    recipient does not accept | mail is restricted | due to ... filter | not accepted by the user | due to extended inactivity`,
  ],
];

/** The wordings in order of their reasons. */
export const WORDINGS: readonly (readonly [RefusalReason, readonly string[]])[] = TEXTS.map(([reason, text]) => [
  reason,
  listWords(text),
]);
