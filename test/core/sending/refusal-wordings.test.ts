import { describe, expect, test } from 'vitest';
import { isHardReason } from '../../../core/sending/refusal-advice.ts';
import { refusalReason } from '../../../core/sending/refusal-reason.ts';

/** Words of servers for an address or a domain that does not exist. */
const UNKNOWN = splitWords(`
  account not found: joe | Address invalid | Address is unknown | Addressee unknown | bad address | Bad destination mailbox address |
  destin. Sconosciuto | Destinatario errato | email address does not exist | Email Address was not found | Indirizzo inesistente |
  Invalid account | invalid address | Invalid or unknown virtual user | Invalid mailbox | Invalid-Recipient | Invalid User |
  nie istnieje | Nie ma takiego konta | No mail box available for this user | no mailbox here | No one with that email address here |
  no such address | no such email address | No such mail drop defined | No such person at this address | not a known user |
  not a valid mailbox | not a valid user | Recipient not found | server doesn't handle mail for that user |
  This address no longer accepts mail | This email address is not known to this system | Unknown account | unknown address or alias |
  Unknown local part | unknown or illegal user | UserUnknown | User doesn't exist in this server | user invalid |
  recipients are invalid | address not recognized | bad destination email address | illegal user | incorrectly addressed |
  mailbox not available | no longer an employee | no longer on server | no longer valid | no valid recipients | unrouteable address |
  recipient cannot be verified | was not found in LDAP server | We are sorry but the address is invalid | Unable to find alias user |
  host name is unknown | no such domain | Old address no longer valid | couldn't find any host by that name | Domain name not found |
  address not recognised | does not have their email address registered | address is not known | no such local user |
  user path no exist | qq Sorry, no valid recipients (#5.1.3) | - invalid address (#5.5.0) | <joe@dest.test>: Invalid User |
  joe@dest.test:user not exist | sorry, that recipient doesn't exist (#5.7.1) | Command RCPT User <joe@dest.test> not OK |
  User not a member of domain: <joe@dest.test> | I'm sorry but joe@dest.test does not have an account here. I will not relay |
  Recipient address no longer exists | All recipients are invalid | Invalid host name |
  Mail domain mentioned in email address is unknown | name or service not known | Recipient address rejected: unknown domain name |
  No existe dicha persona | no existe ese usuario joe | nessun utente simile in questo indirizzo | not email addresses |
  no in name directory joe | There is no one at this address | this email address is wrong or no longer valid |
  this spectator does not exist | user missing home directory | your envelope recipient is in my badrcptto list |
  this recipient is in my badrecipientto list | host/domain does not accept mail | No MX record found for domain=dest.test |
  Invalid account. Tenant or Domain not found | No such ID | I cannot deliver mail for joe | sorry, no mail-box here by that name |
  recipient unrecognized | That recipient is not allowed here, no such user | joe@dest.test has been replaced by joe@new.test |
  receiver not found | recipient problem: unknown | is unknown at host | Domino directory entry does not exist |
  The user's email name is not found | mailbox path invalid | rcpt <joe@dest.test> does not exist |
  account joe does not exist at the organization | Reject No user | recipients in your email are invalid |
  Unable to process recipient: unknown | e-mail address was not found | Mailbox has moved |
  recipient has left the company, no longer here | Account closed | The account has been closed | Account Closed, Please Remove |
  account has been deleted | mailbox deleted | user has been removed | user no longer exists | joe@dest.test no longer exists |
  retired account | account terminated | user is terminated | user left | Teilnehmer unbekannt | Adressat unbekannt |
  Kein Benutzer mit diesem Namen | Diese Adresse existiert nicht | Aucun utilisateur de ce nom | Cette adresse n'est plus valide |
  Cette adresse n'existe plus | Buzón inexistente | La dirección no existe | Usuario no encontrado | Cuenta inexistente |
  destinatário inexistente | Usuário não encontrado | Conta não existe | Utente non trovato | Casella inesistente |
  gebruiker bestaat niet | Mottagaren finns inte | Brugeren findes ikke | Użytkownik nieznany | Brak takiego użytkownika |
  Uživatel neexistuje | Schránka neexistuje | Nincs ilyen felhasználó | Пользователь не найден | Ящик не существует |
  Нет такого пользователя | Адрес не существует | kullanıcı yok | böyle bir kullanıcı yok | Bilinmeyen kullanıcı | ユーザーが存在しません |
  該当するユーザーはいません | 宛先不明 | 用户不存在 | 收件人不存在 | 该邮箱不存在 | 没有该用户 | 사용자를 찾을 수 없습니다 | 존재하지 않는 사용자 | 수신자 없음 | RecipNotFound |
  RESOLVER.ADR.ExRecipNotFound; not found | RESOLVER.ADR.RecipNotFound |
  550 5.1.1 RESOLVER.ADR.RecipientNotFound; Recipient not found | 5.1.1 user unknown | Recipient verify failed: unknown |
  unable to verify recipient: no such user | Callout verification failed: 550 No such user | user joe@dest.test has no mailbox |
  No such virtual user here | no such user here | Unknown virtual user | unknown user in virtual alias table |
  mail receiving disabled | the recipient does not exist in the directory | not listed in Domino Directory |
  recipient name is not recognized | The name was not found at the remote site | Unknown X.400 address | unrecognised recipient |
  cannot be found in the address list | address rejected: no such mailbox | address rejected - unknown | #5.1.0 Address rejected. |
  5.1.0 Address rejected | unknown recipient domain | Domain does not exist | No such domain here | dest.test: unknown host |
  Domain not found | Non-existent domain | NXDOMAIN | host lookup failed: host not found | DNS: host not found |
  no A or MX record for dest.test | has no MX or A records | Domain dest.test has no valid MX | Domain not in service |
  Domain is not hosted here | domain has expired | user doesn't have a yahoo.test account | joe@dest.test is not a user here |
  joe: no such user | No account by that name here | mailbox name not allowed | Mailbox syntax incorrect |
  User mailbox does not exist | recipient's mailbox does not exist | mailbox of joe does not exist | No local user by that name |
  is not a local user | not a local recipient | not our user | not a customer | not a subscriber | subscriber unknown |
  No such subscriber | unknown subscriber | Address does not resolve to a mailbox | The recipient e-mail address was not found |
  The recipient has been deleted | alias not found | Invalid alias | Bad mailbox | user name not found | invalid username |
  username invalid | Username not found | unknown username | login unknown | The group or resource does not exist |
  Requested mailbox unavailable | Requested action not taken: mailbox unavailable | mailbox unavailable |
  Mailbox unavailable. recipient unknown | user is not recognized | recipient is not recognized | address does not exist |
  addresses could not be found | address you entered couldn't be found | address you specified was not found | addressee invalid |
  badly formatted address | Recipient's Domino Directory entry does not specify a valid Notes mail file | illegal alias |
  invalid e-mail address | invalid final delivery userid | invalid virtual user | missing or malformed local part |
  no email address registered | no such mail drop defined | no mailbox by that name | not found in directory |
  not known at this site | not present in directory entry | recipient rejected: not found |
  The recipient was unavailable to take delivery of the message | unavailable mailbox: joe | unknown user account |
  Invalid receiver address: joe | Unknown recipient address | Unknown local part joe in <joe@dest.test> | User name is unknown |
  no vaild recipients were found for this message | Diese Adresse ist nicht mehr verfuegbar. | Receiver not found: joe |
  There is no such user. | user joe not known at this site. | user does not exist here | no such mailbox here |
  this user doesn't have a yahoo.de account | The following destination addresses were unknown |
  joe@dest.test is unknown at dest.test | 500 no such user | host name lookup: no such host |
  Mailbox does not exist at this location | Account not found at this server | Address not in our database | Address not on file |
  not in our user database | User not in database | cannot route to joe | The address you sent to is invalid |
  Email address is not valid | That address isn't valid here | The name joe could not be resolved | Recipient could not be resolved |
  unable to resolve recipient joe | Name cannot be resolved | No matching user | No matching recipient |
  user lookup failed: not found | no entry for joe in LDAP | LDAP: no such object | no entry found in directory |
  The addressee is not known here | has no account here | no account for joe | is not a registered user | unregistered user |
  user is not registered here | not a registered mailbox | joe is not a valid recipient | does not correspond to any mailbox |
  is no longer in use | mailbox no longer in use | address is obsolete | obsolete address | dead address | dead mailbox |
  address retired | this employee no longer works here | the employee has left the organisation | is no longer with the company |
  no longer with us | joe no longer works for us | address is no longer active and does not exist | ex-employee | Domain unknown |
  unknown destination domain | Destination domain does not exist | destination host unknown | Domain name does not exist |
  Cannot resolve domain dest.test | could not resolve host dest.test: not found | Unable to resolve dest.test: NXDOMAIN |
  DNS Error: Domain name not found | domain is invalid | bogus domain | bad domain | Recipient domain not found |
  Recipient's domain is invalid | wrong domain | No such host dest.test | The domain in the address does not exist |
  No mail server for dest.test | domain has no mail server | no mail exchangers found for dest.test | domain accepts no mail |
  This domain does not accept mail | Kein Mailserver für die Domain gefunden | Domain existiert nicht | Rechner unbekannt |
  le domaine n'existe pas | domaine inconnu | el dominio no existe | dominio inesistente | il dominio non esiste |
  domínio não existe | domein bestaat niet | domena nie istnieje | домен не найден | домен не существует | 域名不存在 | ドメインが存在しません |
  도메인을 찾을 수 없습니다 | alan adı bulunamadı | 5.1.1 <joe@dest.test>: Email address could not be found |
  5.4.1 Recipient address rejected: Access denied. AS(201806281) | 5.1.0 <joe@dest.test>... User is not recognised here |
  5.7.1 <joe@dest.test>: Recipient address rejected: User email address is marked as invalid |
  5.1.1 Mailbox for joe@dest.test does not exist on this server | 5.1.1 sorry, no such mailbox here (#5.1.1) |
  5.1.1 unknown recipient <joe@dest.test> | 5.1.1 The user joe could not be found | Recipient <joe@dest.test> does not exist here |
  5.1.1 joe@dest.test: no such account on this host | 5.1.1 Invalid address - no mailbox | 550 Mailbox <joe@dest.test> unknown |
  551 No such local mailbox | 5.1.2 The recipient's domain does not exist | 5.1.2 bad destination system address |
  550 Domain dest.test is not known here | 550 5.1.2 host not found: dest.test | unknown or nonexistent domain |
  Host or domain name not found. Name service error for name=dest.test type=MX: Host not found |
  Domain of joe@dest.test does not exist | unable to find the recipient in our directory |
  the recipient you entered is not in our system | 5.1.1 no one here by that name | 5.1.1 nobody by that name here |
  5.1.1 This user no longer exists | joe@dest.test: inexistent user | nonexisting user | unexisting mailbox |
  user joe@dest.test does not have a mailbox here | there is no mailbox for joe | joe@dest.test - Receiver is not a valid user |
  Address rejected: joe@dest.test is not a valid address | email account not found | email address unknown |
  The email address you entered is not valid | mailbox is not known | not a known mailbox | not a recognized recipient |
  no valid user | RCPT TO user does not exist | RCPT joe@dest.test unknown | Recipient not known | Rcpt not exist | invalid rcpt |
  bad rcpt | RCPT rejected: unknown user | User account does not exist | user account not found | Usuário inválido |
  Destinatário não encontrado | Endereço de e-mail inexistente | Usuario no existe | Cuenta no encontrada |
  Buzón de correo no existe | destinatario inexistente | Adresse inconnue | Compte inexistant | Destinataire introuvable |
  Empfänger existiert nicht | Empfängeradresse unbekannt | Mailbox existiert nicht | Postfach nicht gefunden |
  E-Mail-Adresse ungültig | onbekende ontvanger | Okänd mottagare | Ukendt modtager | Tuntematon vastaanottaja | Nieznany odbiorca |
  Neznámý příjemce | Неизвестный получатель | Адресат не найден | Bilinmeyen alıcı | Άγνωστος παραλήπτης | 收件人地址不存在 | 該收件者不存在 |
  宛先が不明です | 受信者が見つかりません | 알 수 없는 수신자`);

/** Words for everything else. */
const OTHER = splitWords(`
  account disabled | This account is disabled | User is suspended | account expired | account inactive | account suspended |
  address is administratively disabled | deactivated mailbox | inactive recipient | inactive user | mailbox is inactive |
  user account not activated | account not activated | User status is locked. | mailbox temporarily disabled | Mailbox is disabled |
  <joe@dest.test> is now disabled with MTA service. | user disabled | This account has been disabled or discontinued |
  exceeded storage allocation | User has exhausted allowed storage space | User mailbox exceeds allowed size | user has Exceeded |
  not enough storage space | account is overquota | Disc quota exceeded | Recipient reached disk quota |
  Mailbox space not enough (space limit is 10240KB) | Quota exceed the hard limit |
  The users mailfolder is over the allowed quota (size). (#5.2.2) | Benutzer hat zuviele Mails auf dem Server |
  maximale Postfachgröße überschritten | boîte aux lettres pleine | quota dépassé | espacio insuficiente | cuota excedida |
  casella di posta piena | quota superata | caixa de entrada cheia | postfach hat das Limit erreicht |
  greylisted, try again in 300 seconds | Greylisting in action, please come back later | Server busy | system load is too high |
  too busy to accept mail | Too much load | Sender address rejected: Domain not found |
  Sender address rejected: User unknown in virtual mailbox table | sender verify failed | Could not verify sender: user unknown |
  Domain of sender address us@sender.test does not exist | Sender domain must exist | unknown sender domain | sender unknown |
  Sender user unknown | bad sender address: not found | cannot find your hostname | Client host rejected: cannot find your hostname |
  Helo command rejected: Host not found | Unresolvable HELO: unknown host | no PTR record found | DNS lookup of your host failed |
  blocked using zen.spamhaus.org | listed at spamhaus | Message rejected due to spam | SPF check failed | does not pass DMARC |
  DKIM verification failed: no such domain key | Relay access denied | relaying to <joe@dest.test> prohibited by administrator |
  we do not relay | Unable to relay for joe@dest.test | sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1) |
  Connection refused | Connection timed out | no route to host | retry timeout exceeded | Too many hops | mail loop |
  MX list for dest.test points back to mail01 | Local configuration error | command died with status 5 | I/O error |
  can not open new email file | virus found | contains a virus | message too large | file too large | File type not allowed |
  attachment not allowed | Rejected by policy | Denied by policy | content rejected | Message refused | Transaction failed |
  TRANSACTION FAILED | Access denied | User refused to receive this mail. | You have been blocked by the recipient |
  recipient refuses to accept your mail | user rejects mail from you | Not authorized to send to the group |
  You are not allowed to post to this list | only members may post | restricted to members | System error | Internal error |
  out of memory | Service unavailable | Temporary lookup failure | temporary failure | Name server timeout |
  host name lookup failure | DNS failure: try again | Resources temporarily unavailable |
  The message was rejected because it contains prohibited content | message content rejected | invalid header | Syntax error |
  bad sequence of commands | must issue STARTTLS | authentication required | Too many recipients | too many connections |
  rate limited | You have exceeded the limit | poor reputation | Your IP is blacklisted |
  the user you are trying to contact is receiving mail too quickly |
  The user does not accept email in non-Western (non-Latin) character sets. | unauthorized sender |
  sender not found in the address book of the recipient | list does not accept mail from nonmembers | message-id not found |
  Header From unknown | subject not found | invalid message | invalid MIME | unknown charset | password unknown |
  certificate not found | mailbox locked | Mailbox is busy | recipient temporarily unavailable | mail for joe is being held |
  over quota | mailbox full | Message would exceed quota | user over quota. (#5.1.1) |
  Account disabled temporarly for exceeding receiving limits | does not have enough space | too much mail data |
  has restricted sms e-mail | is not accepting any mail | message rejected due to user rules |
  recipient is only accepting mail from specific email addresses | not accepting mail from us@sender.test |
  is not accepting mail from this sender | challenge response required | requires that you verify |
  user or domain is blocked by policy | host us.sender.test not allowed | Unknown error | unknown reason | unknown command |
  address family not supported | The address list is not available, try again | server not found, will retry |
  Mailbox size exceeded - Mailbox voll | Benutzer hat das Speichervolumen ueberschritten |
  message rejected by recipient, comment: Quota not | The intended recipient's mailbox is full. |
  since the mailbox size of the recipient was exceeded | Message could not be delivered for 24 hours - returned |
  user account suspended | please use TLS | sender is not authorized | address list temporarily unavailable | cannot verify sender |
  unknown host in HELO | Your domain was not found | Your host name could not be resolved | reverse lookup failed: no such host |
  sender domain not found in DNS | domain of From address does not exist | From address is invalid | invalid from address |
  invalid Reply-To address | invalid Message-ID | the attachment name is not valid | unknown attachment type | certificate unknown |
  no such TLS cipher | message not found | page not found | URL not found | invalid MIME structure | invalid UTF-8 |
  Subject contains invalid characters | recipient's mailbox is over its quota | recipient unavailable, try later |
  recipient is currently unavailable | user is on vacation | user has exceeded storage | backend not found | LDAP lookup failure |
  database lookup failed | directory unavailable | alias expansion error | mail delivery to this user is not allowed |
  not authorized to send to this group | too many invalid recipients | too many unknown users | excessive unknown recipients |
  message deleted | message has been removed | file deleted | your account has been closed | your account was deleted | list closed |
  connection closed | session closed | service closed | mail was removed because of a virus | relay not local |
  not a local domain: relaying denied | sender account does not exist | return address does not exist | return path user unknown |
  callback to sender failed: user unknown | We could not verify that us@sender.test exists | 4.2.2 mailbox over quota |
  5.2.2 User quota exceeded | 5.7.1 Message blocked due to spam content | 5.7.1 Your message was rejected by policy |
  5.7.26 unauthenticated | 5.7.25 no PTR | 5.3.4 message too big | 4.7.0 too many messages | 5.7.1 Sender not authorized |
  5.1.8 Sender address does not exist | 5.1.7 invalid sender address | 5.7.1 Recipient does not accept mail from you |
  recipient has blocked you | user has restricted who can send | mailbox closed for maintenance | account temporarily locked |
  account suspended for abuse | The mailbox is inactive since 2019 | user is inactive | Konto gesperrt | Postfach deaktiviert |
  cuenta suspendida | cuenta bloqueada | compte désactivé | conta desativada | account disattivato | аккаунт заблокирован |
  почтовый ящик переполнен | ящик отключен | hesap askıya alındı | konto zablokowane | účet je zablokován | 帐号被冻结 | 邮箱已停用 |
  メールボックスが停止されています | 계정이 정지되었습니다 | Message rejected: attachments of this type are not allowed | virus detected |
  DNS temporary failure | could not connect | TLS required | SMTP AUTH required | Unknown command | HELO name invalid |
  Invalid HELO hostname | Invalid domain in HELO | Your host is unknown to us | unknown client | unknown sender IP |
  Cannot find your reverse DNS | domain of the sender could not be found | From domain does not resolve | 5.7.1 no such policy |
  message content invalid | invalid content type | malformed MIME | header missing | no Date header found | Message-ID not found`);

function splitWords(text: string): string[] {
  return text.split('|').map((words) => words.trim());
}

function readReason(words: string) {
  const text = /^[45]\d\d /.test(words) ? words : `550 ${words}`;
  const status = /(?:^|\s)#?([45]\.\d\.\d{1,3})\b/.exec(words)?.[1] ?? null;
  return refusalReason({ code: Number(text.slice(0, 3)), status, text, command: 'recipient' });
}

describe('a hard reason', () => {
  test.each(UNKNOWN)('is read from %s', (words) => {
    expect(isHardReason(readReason(words))).toBe(true);
  });
});

describe('a soft or no reason', () => {
  test.each(OTHER)('is read from %s', (words) => {
    expect(isHardReason(readReason(words))).toBe(false);
  });
});
