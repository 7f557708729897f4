import { type BounceCase, type Outcome, plain } from './bounce-case.ts';

/** What daemons write about one recipient, of which only some says that the address or domain does not exist: `outcome | text`. */
const LINES = `
hard | 550 #5.1.0 Address rejected joe@dest.test
hard | 550-Mailbox unknown. Either there is no mailbox associated with this name or you do not have authorization to see it.
hard | 554 5.5.0 joe@dest.test, there is nobody with that address at this site
hard | 550 5.1.1 Account terminated (joe@dest.test)
hard | 553 sorry, that recipient is not in our directory (#5.7.1)
hard | 511 5.1.1 unknown address or alias: joe@dest.test
hard | 550 Email to joe@dest.test can't be delivered: mailbox has been closed by its owner
hard | Host or domain name not found. Name service error for name=dest.test type=MX: Host not found
hard | 550 RCPT (joe@dest.test) - we have no such subscriber
hard | dest.test: domain is parked and its zone has no MX and no A record
hard | 5.1.1 - This email address wasn't found in our organisation
hard | 550 joe@dest.test: ex-employee, remove from your lists
hard | Le destinataire joe@dest.test n'a jamais existé sur ce serveur
hard | Empfänger joe@dest.test: dieses Konto ist uns nicht bekannt
hard | El usuario joe ya no pertenece a la institución; elimine joe@dest.test de sus listas
hard | L'utente joe@dest.test non è registrato presso questo dominio
hard | O destinatário joe@dest.test foi removido do sistema
hard | De ontvanger joe@dest.test is bij ons niet bekend
hard | Odbiorca joe@dest.test nie jest nam znany
hard | Адресат joe@dest.test на этом сервере не числится
hard | Användaren joe@dest.test finns ej hos oss
hard | ユーザー joe@dest.test は登録がございません
hard | 用户 joe@dest.test 已注销，请勿再发送
hard | joe@dest.test 사용자를 찾을 수 없습니다
hard | Kullanıcı joe@dest.test sistemimizde kayıtlı değil
hard | Uživatel joe@dest.test zde není registrován
soft | 550 5.7.1 Our system doubts that this message is wanted by joe@dest.test
soft | 554 5.7.1 The message from (<us@sender.test>) with the subject of (Invoice) matches a profile the Internet community may consider spam
soft | 550 Sender address us@sender.test does not exist
soft | 550 5.1.8 Sender domain sender.test not found
soft | 553 5.3.0 your host has no valid reverse name
soft | 550 5.7.1 Message contains a link to an unknown domain
soft | 552 joe@dest.test has used up the allotted storage
soft | 451 4.3.0 Temporary lookup failure for joe@dest.test
soft | 550 5.2.1 joe@dest.test account not active: unpaid bill
soft | 550 5.4.5 joe@dest.test received more mail today than is allowed
soft | 550 DMARC: sender.test has not authorised this host
soft | 421 4.7.0 Too much mail from a host not known to us, slow down
soft | 550 Permission denied for joe@dest.test: list is for subscribers
soft | 554 Content of attachment invoice.exe is not allowed for user joe@dest.test
soft | 550 5.0.0 command rejected: session has no valid TLS
soft | 571 Delivery not authorized, message refused for joe@dest.test
soft | 550 joe@dest.test: user has turned on a white list and you are not on it
soft | 530 5.7.0 Must log in first to write to joe@dest.test
soft | Die Nachricht an joe@dest.test wurde wegen eines unbekannten Zeichensatzes abgelehnt
soft | Le serveur refuse le message pour joe@dest.test : l'expéditeur est inconnu
soft | El mensaje para joe@dest.test contiene un archivo de tipo desconocido
soft | Сообщение для joe@dest.test отклонено: отправитель неизвестен
soft | joe@dest.test 宛のメールは送信者のアドレスが存在しないため拒否されました
soft | 发往 joe@dest.test 的邮件被拒绝：发件人不存在
soft | Il messaggio per joe@dest.test è stato respinto: il mittente non esiste
soft | Wiadomość do joe@dest.test odrzucono: nadawca nie istnieje
soft | 550 5.7.1 joe@dest.test: message not signed by a known key
soft | 554 5.4.7 joe@dest.test: message timed out after 72 hours
soft | 550 joe@dest.test accepts mail from known contacts only
`;

export const SINGLE_LINES: readonly BounceCase[] = LINES.trim()
  .split('\n')
  .map((line) => {
    const [outcome = '', text = ''] = line.split(' | ');
    return plain(text, outcome as Outcome, `Your message could not be delivered.\n\n<joe@dest.test>:\n${text}`);
  });
