import { type BounceCase, dsn, html, plain, withOriginal } from './bounce-case.ts';

const ADMIN = { from: 'System Administrator <postmaster@dest.test>', subject: 'Undeliverable: Invoice 4711' };
const MS = {
  from: 'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@dest.test>',
  subject: 'Undeliverable: Invoice 4711',
};

/** Reports of Exchange from 5.5 on, in several languages. */
export const EXCHANGE: readonly BounceCase[] = [
  plain(
    'Exchange 5.5',
    'hard',
    `Your message

  To:      joe@dest.test
  Subject: Invoice 4711
  Sent:    Thu, 3 Feb 2000 10:11:12 +0100

did not reach the following recipient(s):

joe@dest.test on Thu, 3 Feb 2000 10:11:15 +0100
    The recipient name is not recognized
\tThe MTS-ID of the original message is: c=us;a= ;p=dest;l=MAIL0002031011
    MSEXCH:IMS:DEST:HQ:MAIL 0 (000C05A6) Unknown Recipient`,
    ADMIN,
  ),
  plain(
    'Exchange 5.5',
    'soft',
    `Your message

  To:      joe@dest.test
  Subject: Invoice 4711

did not reach the following recipient(s):

joe@dest.test on Thu, 3 Feb 2000 10:11:15 +0100
    The message could not be delivered because the recipient's mailbox is full
    MSEXCH:MSExchangeIS:DEST:MAIL`,
    ADMIN,
  ),
  plain(
    'Exchange 5.5',
    'soft',
    `Your message

  To:      joe@dest.test
  Subject: Invoice 4711

did not reach the following recipient(s):

joe@dest.test on Thu, 3 Feb 2000 10:11:15 +0100
    A restriction in the system prevented delivery of the message
    MSEXCH:IMS:DEST:HQ:MAIL 3550 (000B09B6)`,
    ADMIN,
  ),
  plain(
    'Exchange 2000',
    'hard',
    `Your message did not reach some or all of the intended recipients.

      Subject:\tInvoice 4711
      Sent:\t2/3/2003 10:11 AM

The following recipient(s) could not be reached:

      joe@dest.test on 2/3/2003 10:11 AM
            The e-mail account does not exist at the organization this message was sent to.  Check the e-mail address, or contact the recipient directly to find out the correct address.
            <mail.dest.test #5.1.1>`,
    ADMIN,
  ),
  plain(
    'Exchange 2003',
    'hard',
    `Your message did not reach some or all of the intended recipients.

      Subject:\tInvoice 4711

The following recipient(s) could not be reached:

      joe@dest.test on 2/3/2005 10:11 AM
            The e-mail system was unable to deliver the message, but did not report a specific reason.  Check the address and try again.  If it still fails, contact your system administrator.
            < mail.dest.test #5.0.0 smtp; 550 unknown user joe@dest.test>`,
    ADMIN,
  ),
  plain(
    'Exchange 2003',
    'soft',
    `Your message did not reach some or all of the intended recipients.

      Subject:\tInvoice 4711

The following recipient(s) could not be reached:

      joe@dest.test on 2/3/2005 10:11 AM
            You do not have permission to send to this recipient.  For assistance, contact your system administrator.
            <mail.dest.test #5.7.1 smtp;550 5.7.1 Unable to relay for joe@dest.test>`,
    ADMIN,
  ),
  plain(
    'Exchange 2003 German',
    'hard',
    `Ihre Nachricht hat einige oder alle Empfänger nicht erreicht.

      Betreff:\tRechnung 4711
      Gesendet am:\t03.02.2005 10:11

Folgende(r) Empfänger kann/können nicht erreicht werden:

      joe@dest.test am 03.02.2005 10:11
            Das E-Mail-Konto ist in der Organisation, an die diese Nachricht gesendet wurde, nicht vorhanden. Überprüfen Sie die E-Mail-Adresse, oder wenden Sie sich an den Empfänger.
            <mail.dest.test>`,
    { from: 'Systemadministrator <postmaster@dest.test>', subject: 'Unzustellbar: Rechnung 4711' },
  ),
  plain(
    'Exchange 2003 French',
    'hard',
    `Votre message n'a pas atteint certains ou tous les destinataires visés.

      Objet :\tFacture 4711
      Date :\t03/02/2005 10:11

Impossible d'atteindre le(s) destinataire(s) suivant(s) :

      joe@dest.test le 03/02/2005 10:11
            Ce compte de messagerie n'existe pas dans l'organisation à laquelle ce message a été envoyé. Vérifiez l'adresse de messagerie.
            <mail.dest.test>`,
    { from: 'Administrateur système <postmaster@dest.test>', subject: 'Non remis : Facture 4711' },
  ),
  html(
    'Exchange 2007 Italian',
    'hard',
    `<p><b>Recapito non riuscito ai destinatari o alle liste di distribuzione seguenti:</b></p><p><a href="mailto:joe@dest.test">joe@dest.test</a><br>
Impossibile trovare l'indirizzo di posta elettronica immesso. Controllare l'indirizzo e provare a inviare di nuovo il messaggio.</p><p>Inviato da Microsoft Exchange Server 2007</p>`,
    { from: 'Postmaster <postmaster@dest.test>', subject: 'Non recapitabile: Fattura' },
  ),
  html(
    'Exchange 2010 Spanish',
    'hard',
    `<p><b>Error de entrega a los siguientes destinatarios o listas de distribución:</b></p><p><a href="mailto:joe@dest.test">joe@dest.test</a><br>
No se encontró la dirección de correo electrónico especificada. Compruebe la dirección e intente enviar de nuevo el mensaje.</p>`,
    { ...MS, subject: 'No se puede entregar: Factura' },
  ),
  html(
    'Exchange 2010 Portuguese',
    'soft',
    `<p><b>Falha na entrega para estes destinatários ou grupos:</b></p><p>joe@dest.test<br>
A caixa de correio do destinatário está cheia e não pode aceitar mensagens agora. Tente reenviar a mensagem mais tarde.</p>`,
    { ...MS, subject: 'Não é possível entregar: Fatura' },
  ),
  html(
    'Exchange 2013 Dutch',
    'hard',
    `<p><b>De bezorging aan de volgende geadresseerden of groepen is mislukt:</b></p><p>joe@dest.test<br>
Het opgegeven e-mailadres kan niet worden gevonden. Controleer het e-mailadres van de geadresseerde en probeer het bericht opnieuw te verzenden.</p>`,
    { ...MS, subject: 'Onbestelbaar: Factuur' },
  ),
  html(
    'Exchange 2013 Swedish',
    'hard',
    `<p><b>Det gick inte att leverera till följande mottagare eller grupper:</b></p><p>joe@dest.test<br>
Det gick inte att hitta e-postadressen du angav. Kontrollera mottagarens e-postadress och försök skicka meddelandet igen.</p>`,
    { ...MS, subject: 'Kan inte levereras: Faktura' },
  ),
  html(
    'Exchange 2013 Polish',
    'hard',
    `<p><b>Nie można dostarczyć wiadomości do następujących adresatów lub grup:</b></p><p>joe@dest.test<br>
Nie można odnaleźć wprowadzonego adresu e-mail. Sprawdź adres e-mail adresata i spróbuj ponownie wysłać wiadomość.</p>`,
    { ...MS, subject: 'Niedostarczone: Faktura' },
  ),
  html(
    'Exchange 2013 Russian',
    'hard',
    `<p><b>Сбой доставки следующим получателям или группам:</b></p><p>joe@dest.test<br>
Введенный адрес электронной почты не найден. Проверьте адрес получателя и попробуйте отправить сообщение еще раз.</p>`,
    { ...MS, subject: 'Не удается доставить: Счет' },
  ),
  html(
    'Exchange 2013 Chinese',
    'hard',
    `<p><b>未能成功将邮件传递给以下收件人或组:</b></p><p>joe@dest.test<br>
找不到您输入的电子邮件地址。请检查收件人的电子邮件地址，然后尝试重新发送邮件。</p>`,
    { ...MS, subject: '未传递: 发票' },
  ),
  html(
    'Exchange 2013 Japanese',
    'hard',
    `<p><b>次の受信者またはグループへの配信に失敗しました:</b></p><p>joe@dest.test<br>
入力した電子メール アドレスが見つかりませんでした。受信者の電子メール アドレスを確認して、メッセージを再送信してみてください。</p>`,
    { ...MS, subject: '配信不能: 請求書' },
  ),
  html(
    'Exchange 2013 Turkish',
    'hard',
    `<p><b>Şu alıcılara veya gruplara teslim edilemedi:</b></p><p>joe@dest.test<br>
Girdiğiniz e-posta adresi bulunamadı. Lütfen alıcının e-posta adresini denetleyin ve iletiyi yeniden göndermeyi deneyin.</p>`,
    { ...MS, subject: 'Teslim edilemiyor: Fatura' },
  ),
  html(
    'Exchange 2016 Danish',
    'hard',
    `<p><b>Der opstod fejl ved levering til følgende modtagere eller grupper:</b></p><p>joe@dest.test<br>
Den e-mailadresse, du har angivet, blev ikke fundet. Kontrollér modtagerens e-mailadresse, og prøv at sende meddelelsen igen.</p>`,
    { ...MS, subject: 'Kan ikke leveres: Faktura' },
  ),
  html(
    'Exchange 2016 Czech',
    'hard',
    `<p><b>Doručení následujícím příjemcům nebo skupinám se nezdařilo:</b></p><p>joe@dest.test<br>
Zadanou e-mailovou adresu nelze najít. Zkontrolujte e-mailovou adresu příjemce a zkuste zprávu odeslat znovu.</p>`,
    { ...MS, subject: 'Nedoručitelné: Faktura' },
  ),
  dsn(
    'Exchange 2010',
    'soft',
    {
      text: `Delivery has failed to these recipients or groups:

joe@dest.test
The recipient's mailbox is full and can't accept messages now. Please try resending this message later, or contact the recipient directly.

Diagnostic information for administrators:

Generating server: mail.dest.test

joe@dest.test
#550 5.2.2 STOREDRV.Deliver: mailbox full. The following information should help identify the cause ##`,
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.2.2
Diagnostic-Code: smtp;550 5.2.2 STOREDRV.Deliver: mailbox full.`,
    },
    MS,
  ),
  dsn(
    'Office 365',
    'hard',
    {
      text: `Your message to joe@dest.test couldn't be delivered.
joe wasn't found at dest.test.`,
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient joe@dest.test not found by SMTP address lookup`,
    },
    MS,
  ),
  dsn(
    'Office 365',
    'hard',
    {
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.4.310
Diagnostic-Code: smtp;550 5.4.310 DNS domain dest.test does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=dest.test]`,
    },
    MS,
  ),
  dsn(
    'Office 365',
    'hard',
    {
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.4.4
Diagnostic-Code: smtp;554 5.4.4 SMTPSEND.DNS.NonExistentDomain; nonexistent domain`,
    },
    MS,
  ),
  dsn(
    'Office 365',
    'hard',
    {
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.4.1
Diagnostic-Code: smtp;550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [DB5EUR.dest.test]`,
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.7.133
Diagnostic-Code: smtp;550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed`,
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.4.316
Diagnostic-Code: smtp;550 5.4.316 Message expired, connection refused(Socket error code 10061)`,
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.7.708
Diagnostic-Code: smtp;550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP`,
    },
    MS,
  ),
  html(
    'Office 365 German',
    'hard',
    `<table><tr><td>Ihre Nachricht an <b>joe@dest.test</b> konnte nicht zugestellt werden.</td></tr><tr><td><b>joe</b> wurde bei <b>dest.test</b> nicht gefunden.</td></tr></table><p>So beheben Sie das Problem: Die Adresse ist möglicherweise falsch geschrieben oder nicht vorhanden.</p>`,
    { ...MS, subject: 'Unzustellbar: Rechnung' },
  ),
  html(
    'Office 365 French',
    'hard',
    `<table><tr><td>Votre message à <b>joe@dest.test</b> n'a pas pu être remis.</td></tr><tr><td><b>joe</b> est introuvable à l'adresse <b>dest.test</b>.</td></tr></table>`,
    { ...MS, subject: 'Non remis : Facture' },
  ),
  html(
    'Office 365 Spanish',
    'soft',
    `<table><tr><td>No se pudo entregar el mensaje a <b>joe@dest.test</b>.</td></tr><tr><td>El buzón de <b>joe</b> está lleno.</td></tr></table><p>El buzón del destinatario está lleno y no puede aceptar mensajes.</p>`,
    { ...MS, subject: 'No se puede entregar: Factura' },
  ),
  html(
    'Office 365 Italian',
    'soft',
    `<p>Non è stato possibile recapitare il messaggio a joe@dest.test.</p><p>L'utente joe accetta solo messaggi da mittenti autenticati. Il messaggio è stato rifiutato dai criteri dell'organizzazione.</p>`,
    { ...MS, subject: 'Non recapitabile: Fattura' },
  ),
  withOriginal(
    'Outlook.com',
    'hard',
    `This is an automatically generated Delivery Status Notification.

Delivery to the following recipients failed.

       joe@dest.test

550 Requested action not taken: mailbox unavailable`,
    { from: 'postmaster@mail.hotmail.com', subject: 'Delivery Status Notification (Failure)' },
  ),
  dsn(
    'Outlook.com',
    'hard',
    {
      text: `This is an automatically generated Delivery Status Notification.

Delivery to the following recipients failed.

       joe@dest.test`,
      fields: `Final-Recipient: rfc822;joe@dest.test
Action: failed
Status: 5.5.0
Diagnostic-Code: smtp;550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [DB5EUR.dest.test]`,
    },
    { from: 'postmaster@outlook.com', subject: 'Delivery Status Notification (Failure)' },
  ),
];
