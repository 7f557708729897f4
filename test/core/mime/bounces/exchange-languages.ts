import { type BounceCase, dsn, html, plain } from './bounce-case.ts';

const ADMIN = { from: 'System Administrator <postmaster@dest.test>', subject: 'Undeliverable: Invoice 4711' };
const MS = {
  from: 'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@dest.test>',
  subject: 'Undeliverable: Invoice 4711',
};

/** Further reports of Exchange and Microsoft 365, by version, reason and language. */
export const EXCHANGE_LANGUAGES: readonly BounceCase[] = [
  plain(
    'Exchange 5.5 German',
    'hard',
    `Ihre Nachricht

  An:      joe@dest.test
  Betreff: Rechnung 4711
  Gesendet am:    Thu, 3 Feb 2000 10:11:12 +0100

hat folgende(n) Empfänger nicht erreicht:

joe@dest.test am Thu, 3 Feb 2000 10:11:15 +0100
    Der Empfängername wurde nicht erkannt.
\tDie MTS-ID der ursprünglichen Nachricht lautet: c=de;a= ;p=dest;l=MAIL0002031011
    MSEXCH:IMS:DEST:HQ:MAIL 0 (000C05A6) Unknown Recipient`,
    { from: 'Systemadministrator <postmaster@dest.test>', subject: 'Unzustellbar: Rechnung 4711' },
  ),
  plain(
    'Exchange 5.5 French',
    'hard',
    `Votre message

  À : joe@dest.test
  Objet : Facture 4711

n'est pas parvenu au(x) destinataire(s) suivant(s) :

joe@dest.test le Thu, 3 Feb 2000 10:11:15 +0100
    Le nom du destinataire n'est pas reconnu.
    MSEXCH:IMS:DEST:HQ:MAIL 0 (000C05A6)`,
    { from: 'Administrateur système <postmaster@dest.test>', subject: 'Non remis : Facture 4711' },
  ),
  plain(
    'Exchange 5.5',
    'hard',
    `Your message

  To:      joe@dest.test
  Subject: Invoice 4711

did not reach the following recipient(s):

joe@dest.test on Thu, 3 Feb 2000 10:11:15 +0100
    The recipient was unavailable to take delivery of the message
\tThe MTS-ID of the original message is: c=us;a= ;p=dest;l=MAIL0002031011
    MSEXCH:MSExchangeMTA:DEST:MAIL 3550 (000B09B6) 550 <joe@dest.test>... User unknown`,
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
    Unable to deliver the message due to a communications failure
    MSEXCH:IMS:DEST:HQ:MAIL 3499 (000B09AA)`,
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
            The e-mail address could not be found.  Perhaps the recipient moved to a different e-mail organization, or there was a mistake in the address.  Check the address and try again.
            <mail.dest.test #5.1.0>`,
    ADMIN,
  ),
  plain(
    'Exchange 2003',
    'hard',
    `Your message did not reach some or all of the intended recipients.

      Subject:\tInvoice 4711

The following recipient(s) could not be reached:

      joe@dest.test on 2/3/2005 10:11 AM
            There was a SMTP communication problem with the recipient's email server.  Please contact your system administrator.
            <mail.dest.test #5.5.0 smtp;550 Requested action not taken: mailbox unavailable>`,
    ADMIN,
  ),
  plain(
    'Exchange 2003',
    'soft',
    `Your message did not reach some or all of the intended recipients.

      Subject:\tInvoice 4711

The following recipient(s) could not be reached:

      joe@dest.test on 2/3/2005 10:11 AM
            Could not deliver the message in the time limit specified.  Please retry or contact your administrator.
            <mail.dest.test #4.4.7>`,
    ADMIN,
  ),
  plain(
    'Exchange 2003',
    'soft',
    `Your message did not reach some or all of the intended recipients.

      Subject:\tInvoice 4711

The following recipient(s) could not be reached:

      joe@dest.test on 2/3/2005 10:11 AM
            This message is larger than the current system limit or the recipient's mailbox is full.  Create a shorter message body or remove attachments and try sending it again.
            <mail.dest.test #5.2.3>`,
    ADMIN,
  ),
  plain(
    'Exchange 2003 Spanish',
    'hard',
    `Su mensaje no ha llegado a alguno o a ninguno de los destinatarios deseados.

      Asunto:\tFactura 4711
      Enviado el:\t03/02/2005 10:11

No se puede localizar a los destinatarios siguientes:

      joe@dest.test el 03/02/2005 10:11
            La cuenta de correo electrónico no existe en la organización a la que se envió el mensaje. Compruebe la dirección de correo electrónico o póngase en contacto con el destinatario directamente.
            <mail.dest.test #5.1.1>`,
    { from: 'Administrador del sistema <postmaster@dest.test>', subject: 'No entregado: Factura 4711' },
  ),
  plain(
    'Exchange 2003 Italian',
    'hard',
    `Il messaggio non ha raggiunto alcuni o tutti i destinatari.

      Oggetto:\tFattura 4711
      Inviato:\t03/02/2005 10.11

Impossibile raggiungere i seguenti destinatari:

      joe@dest.test il 03/02/2005 10.11
            L'account di posta elettronica non esiste nell'organizzazione a cui è stato inviato il messaggio. Controllare l'indirizzo di posta elettronica.
            <mail.dest.test>`,
    { from: 'Amministratore di sistema <postmaster@dest.test>', subject: 'Non recapitabile: Fattura 4711' },
  ),
  plain(
    'Exchange 2003 Dutch',
    'hard',
    `Uw bericht is niet aangekomen bij een aantal of alle beoogde geadresseerden.

      Onderwerp:\tFactuur 4711
      Verzonden:\t3-2-2005 10:11

De volgende geadresseerden kunnen niet worden bereikt:

      joe@dest.test op 3-2-2005 10:11
            De e-mailaccount bestaat niet in de organisatie waarnaar dit bericht is verzonden. Controleer het e-mailadres.
            <mail.dest.test>`,
    { from: 'Systeembeheerder <postmaster@dest.test>', subject: 'Niet bezorgd: Factuur 4711' },
  ),
  plain(
    'Exchange 2003 Japanese',
    'hard',
    `次の受信者にメッセージを送信できませんでした。

      件名: 請求書
      送信日時: 2005/02/03 10:11

以下の受信者に配信できません:

      joe@dest.test 2005/02/03 10:11
            このメッセージの送信先の組織に、電子メール アカウントが存在しません。電子メール アドレスを確認してください。
            <mail.dest.test>`,
    { from: 'System Administrator <postmaster@dest.test>', subject: '配信不能: 請求書' },
  ),
  html(
    'Exchange 2007 German',
    'hard',
    `<p><b>Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Verteilerlisten:</b></p><p><a href="mailto:joe@dest.test">joe@dest.test</a><br>
Die eingegebene E-Mail-Adresse konnte nicht gefunden werden. Überprüfen Sie die E-Mail-Adresse des Empfängers, und senden Sie die Nachricht erneut.</p><p>Gesendet von Microsoft Exchange Server 2007</p>`,
    { from: 'Postmaster <postmaster@dest.test>', subject: 'Unzustellbar: Rechnung' },
  ),
  html(
    'Exchange 2010 French',
    'hard',
    `<p><b>Échec de la remise pour ces destinataires ou groupes :</b></p><p><a href="mailto:joe@dest.test">joe@dest.test</a><br>
L'adresse de messagerie que vous avez entrée est introuvable. Vérifiez l'adresse de messagerie du destinataire et essayez de renvoyer le message.</p>`,
    { ...MS, subject: 'Non remis : Facture' },
  ),
  html(
    'Exchange 2013 Norwegian',
    'hard',
    `<p><b>Levering mislyktes til disse mottakerne eller gruppene:</b></p><p>joe@dest.test<br>
Finner ikke e-postadressen du skrev inn. Kontroller mottakerens e-postadresse, og prøv å sende meldingen på nytt.</p>`,
    { ...MS, subject: 'Kan ikke leveres: Faktura' },
  ),
  html(
    'Exchange 2010 Finnish',
    'hard',
    `<p><b>Toimittaminen näille vastaanottajille tai ryhmille epäonnistui:</b></p><p>joe@dest.test<br>
Antamaasi sähköpostiosoitetta ei löytynyt. Tarkista vastaanottajan sähköpostiosoite ja yritä lähettää viesti uudelleen.</p>`,
    { ...MS, subject: 'Ei voi toimittaa: Lasku' },
  ),
  html(
    'Exchange 2013 Greek',
    'hard',
    `<p><b>Η παράδοση απέτυχε σε αυτούς τους παραλήπτες ή τις ομάδες:</b></p><p>joe@dest.test<br>
Η διεύθυνση ηλεκτρονικού ταχυδρομείου που πληκτρολογήσατε δεν βρέθηκε. Ελέγξτε τη διεύθυνση του παραλήπτη.</p>`,
    { ...MS, subject: 'Δεν είναι δυνατή η παράδοση: Τιμολόγιο' },
  ),
  html(
    'Exchange 2013 Hungarian',
    'hard',
    `<p><b>A kézbesítés nem sikerült a következő címzetteknek vagy csoportoknak:</b></p><p>joe@dest.test<br>
A megadott e-mail cím nem található. Ellenőrizze a címzett e-mail címét, és próbálja meg újra elküldeni az üzenetet.</p>`,
    { ...MS, subject: 'Kézbesíthetetlen: Számla' },
  ),
  html(
    'Exchange 2013 Romanian',
    'hard',
    `<p><b>Livrarea nu a reușit la acești destinatari sau grupuri:</b></p><p>joe@dest.test<br>
Adresa de e-mail pe care ați introdus-o nu a putut fi găsită. Verificați adresa destinatarului.</p>`,
    { ...MS, subject: 'Nelivrabil: Factură' },
  ),
  html(
    'Exchange 2016 Slovak',
    'hard',
    `<p><b>Doručenie týmto príjemcom alebo skupinám zlyhalo:</b></p><p>joe@dest.test<br>
Zadanú e-mailovú adresu sa nepodarilo nájsť. Skontrolujte e-mailovú adresu príjemcu.</p>`,
    { ...MS, subject: 'Nedoručiteľné: Faktúra' },
  ),
  html(
    'Exchange 2013 Ukrainian',
    'hard',
    `<p><b>Не вдалося доставити повідомлення таким одержувачам або групам:</b></p><p>joe@dest.test<br>
Не вдалося знайти введену електронну адресу. Перевірте адресу одержувача та надішліть повідомлення ще раз.</p>`,
    { ...MS, subject: 'Не доставлено: Рахунок' },
  ),
  html(
    'Exchange 2010 Korean',
    'hard',
    `<p><b>다음 받는 사람 또는 그룹에게 배달하지 못했습니다.</b></p><p>joe@dest.test<br>
입력한 전자 메일 주소를 찾을 수 없습니다. 받는 사람의 전자 메일 주소를 확인하고 메시지를 다시 보내십시오.</p>`,
    { ...MS, subject: '배달되지 않음: 청구서' },
  ),
  html(
    'Exchange 2013 Traditional Chinese',
    'hard',
    `<p><b>傳送至下列收件者或群組時失敗:</b></p><p>joe@dest.test<br>
找不到您輸入的電子郵件地址。請檢查收件者的電子郵件地址，並嘗試重新傳送郵件。</p>`,
    { ...MS, subject: '無法傳遞: 發票' },
  ),
  html(
    'Exchange 2013 Arabic',
    'hard',
    `<p><b>فشل التسليم إلى هؤلاء المستلمين أو المجموعات:</b></p><p>joe@dest.test<br>
تعذر العثور على عنوان البريد الإلكتروني الذي أدخلته. يرجى التحقق من عنوان المستلم.</p>`,
    { ...MS, subject: 'غير قابل للتسليم: فاتورة' },
  ),
  html(
    'Exchange 2013 Hebrew',
    'hard',
    `<p><b>המסירה נכשלה לנמענים או לקבוצות הבאים:</b></p><p>joe@dest.test<br>
כתובת הדואר האלקטרוני שהזנת לא נמצאה. בדוק את כתובת הנמען ונסה לשלוח שוב.</p>`,
    { ...MS, subject: 'לא ניתן למסירה: חשבונית' },
  ),
  html(
    'Exchange 2013 Thai',
    'hard',
    `<p><b>การส่งถึงผู้รับหรือกลุ่มเหล่านี้ล้มเหลว:</b></p><p>joe@dest.test<br>
ไม่พบที่อยู่อีเมลที่คุณป้อน โปรดตรวจสอบที่อยู่อีเมลของผู้รับ</p>`,
    { ...MS, subject: 'ไม่สามารถส่งได้: ใบแจ้งหนี้' },
  ),
  html(
    'Exchange 2013 Croatian',
    'hard',
    `<p><b>Isporuka ovim primateljima ili grupama nije uspjela:</b></p><p>joe@dest.test<br>
Adresa e-pošte koju ste unijeli nije pronađena. Provjerite adresu e-pošte primatelja i pokušajte ponovo.</p>`,
    { ...MS, subject: 'Neisporučivo: Račun' },
  ),
  html(
    'Exchange 2013 Bulgarian',
    'hard',
    `<p><b>Доставката до следните получатели или групи е неуспешна:</b></p><p>joe@dest.test<br>
Въведеният от вас имейл адрес не можа да бъде намерен. Проверете имейл адреса на получателя.</p>`,
    { ...MS, subject: 'Недоставимо: Фактура' },
  ),
  html(
    'Exchange 2013 Slovenian',
    'hard',
    `<p><b>Dostava tem prejemnikom ali skupinam ni uspela:</b></p><p>joe@dest.test<br>
E-poštnega naslova, ki ste ga vnesli, ni bilo mogoče najti. Preverite prejemnikov e-poštni naslov.</p>`,
    { ...MS, subject: 'Ni mogoče dostaviti: Račun' },
  ),
  html(
    'Exchange 2013 Lithuanian',
    'hard',
    `<p><b>Nepavyko pristatyti šiems gavėjams arba grupėms:</b></p><p>joe@dest.test<br>
Jūsų įvestas el. pašto adresas nerastas. Patikrinkite gavėjo el. pašto adresą.</p>`,
    { ...MS, subject: 'Nepristatyta: Sąskaita' },
  ),
  html(
    'Exchange 2013 Latvian',
    'hard',
    `<p><b>Piegāde neizdevās šiem adresātiem vai grupām:</b></p><p>joe@dest.test<br>
Jūsu ievadītā e-pasta adrese netika atrasta. Pārbaudiet adresāta e-pasta adresi.</p>`,
    { ...MS, subject: 'Nepiegādājams: Rēķins' },
  ),
  html(
    'Exchange 2013 Estonian',
    'hard',
    `<p><b>Sõnumi edastamine järgmistele adressaatidele või rühmadele nurjus:</b></p><p>joe@dest.test<br>
Sisestatud meiliaadressi ei leitud. Kontrollige adressaadi meiliaadressi.</p>`,
    { ...MS, subject: 'Edastamatu: Arve' },
  ),
  html(
    'Exchange 2013 Vietnamese',
    'hard',
    `<p><b>Gửi đến những người nhận hoặc nhóm sau không thành công:</b></p><p>joe@dest.test<br>
Không tìm thấy địa chỉ email bạn đã nhập. Vui lòng kiểm tra địa chỉ email của người nhận.</p>`,
    { ...MS, subject: 'Không thể gửi: Hóa đơn' },
  ),
  html(
    'Exchange 2010',
    'hard',
    `<p><b>Delivery has failed to these recipients or groups:</b></p><p>joe@dest.test<br>
An error occurred while trying to deliver this message to the recipient's e-mail address. Microsoft Exchange will not try to redeliver this message for you.</p>
<p>Diagnostic information for administrators:<br>Generating server: mail.dest.test<br>joe@dest.test<br>#554 5.4.4 SMTPSEND.DNS.NonExistentDomain; nonexistent domain ##</p>`,
    MS,
  ),
  html(
    'Exchange 2010',
    'soft',
    `<p><b>Delivery has failed to these recipients or groups:</b></p><p>joe@dest.test<br>
Your message can't be delivered because delivery to this address is restricted.</p>
<p>Diagnostic information for administrators:<br>joe@dest.test<br>#550 5.7.1 RESOLVER.RST.AuthRequired; authentication required ##rfc822;joe@dest.test</p>`,
    MS,
  ),
  html(
    'Exchange 2010',
    'delay',
    `<p><b>Delivery is delayed to these recipients or groups:</b></p><p>joe@dest.test</p><p>Subject: Invoice 4711</p>
<p>This message hasn't been delivered yet. Delivery will continue to be attempted.</p><p>The server will keep trying to deliver this message for the next 1 days, 19 hours and 53 minutes. You'll be notified if the message can't be delivered by that time.</p>`,
    { ...MS, subject: 'Delivery delayed: Invoice 4711' },
  ),
  html(
    'Exchange 2010 German',
    'delay',
    `<p><b>Die Zustellung an folgende Empfänger oder Gruppen wurde verzögert:</b></p><p>joe@dest.test</p>
<p>Diese Nachricht wurde noch nicht zugestellt. Es wird weiterhin versucht, die Nachricht zuzustellen.</p><p>Der Server versucht in den nächsten 1 Tagen, 19 Stunden und 53 Minuten, diese Nachricht zuzustellen.</p>`,
    { ...MS, subject: 'Verzögerte Zustellung: Rechnung' },
  ),
  html(
    'Exchange 2013 French',
    'delay',
    `<p><b>La remise aux destinataires ou groupes suivants est retardée :</b></p><p>joe@dest.test</p>
<p>Ce message n'a pas encore été remis. Les tentatives de remise vont se poursuivre.</p><p>Le serveur essaiera de remettre ce message pendant les prochains 1 jours, 19 heures et 53 minutes.</p>`,
    { ...MS, subject: 'Remise retardée : Facture' },
  ),
  html(
    'Exchange 2013 German',
    'soft',
    `<p><b>Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:</b></p><p>joe@dest.test<br>
Das Postfach des Empfängers ist voll und kann zurzeit keine Nachrichten annehmen. Versuchen Sie, diese Nachricht später erneut zu senden.</p>`,
    { ...MS, subject: 'Unzustellbar: Rechnung' },
  ),
  html(
    'Exchange 2013 Russian',
    'soft',
    `<p><b>Сбой доставки следующим получателям или группам:</b></p><p>joe@dest.test<br>
Почтовый ящик получателя переполнен и не может принимать сообщения. Попробуйте отправить сообщение позже.</p>`,
    { ...MS, subject: 'Не удается доставить: Счет' },
  ),
];

/** Reports of Microsoft 365 in the design of 2017 and later. */
export const MICROSOFT_365: readonly BounceCase[] = [
  html(
    'Office 365 Portuguese',
    'hard',
    '<p>Sua mensagem para joe@dest.test não pôde ser entregue.</p><p><b>joe</b> não foi encontrado em <b>dest.test</b>.</p><table><tr><td>us</td><td>Office 365</td><td>joe</td></tr><tr><td>Ação obrigatória</td><td>Endereço Para desconhecido</td></tr></table>',
    { ...MS, subject: 'Não é possível entregar: Fatura' },
  ),
  html(
    'Office 365 Dutch',
    'hard',
    '<p>Uw bericht aan joe@dest.test kan niet worden bezorgd.</p><p><b>joe</b> is niet gevonden bij <b>dest.test</b>.</p><p>Onbekend Aan-adres</p>',
    { ...MS, subject: 'Niet te bezorgen: Factuur' },
  ),
  html(
    'Office 365 Japanese',
    'hard',
    '<p>joe@dest.test へのメッセージを配信できませんでした。</p><p><b>joe</b> が <b>dest.test</b> で見つかりませんでした。</p><p>宛先アドレスが不明です</p>',
    { ...MS, subject: '配信不能: 請求書' },
  ),
  html(
    'Office 365 Polish',
    'hard',
    '<p>Nie można było dostarczyć wiadomości do: joe@dest.test.</p><p>Nie znaleziono adresata <b>joe</b> w domenie <b>dest.test</b>.</p>',
    { ...MS, subject: 'Nie można dostarczyć: Faktura' },
  ),
  html(
    'Office 365 Swedish',
    'hard',
    '<p>Ditt meddelande till joe@dest.test kunde inte levereras.</p><p><b>joe</b> hittades inte på <b>dest.test</b>.</p><p>Okänd Till-adress</p>',
    { ...MS, subject: 'Kan inte levereras: Faktura' },
  ),
  html(
    'Office 365 Chinese',
    'hard',
    '<p>无法传递发往 joe@dest.test 的邮件。</p><p>在 <b>dest.test</b> 中找不到 <b>joe</b>。</p><p>“收件人”地址未知</p>',
    { ...MS, subject: '未传递: 发票' },
  ),
  html(
    'Office 365 Turkish',
    'hard',
    '<p>joe@dest.test alıcısına gönderdiğiniz ileti teslim edilemedi.</p><p><b>joe</b>, <b>dest.test</b> konumunda bulunamadı.</p><p>Bilinmeyen Kime adresi</p>',
    { ...MS, subject: 'Teslim edilemiyor: Fatura' },
  ),
  html(
    'Office 365 Korean',
    'hard',
    '<p>joe@dest.test에게 보낸 메시지를 배달할 수 없습니다.</p><p><b>dest.test</b>에서 <b>joe</b>을(를) 찾을 수 없습니다.</p><p>알 수 없는 받는 사람 주소</p>',
    { ...MS, subject: '배달되지 않음: 청구서' },
  ),
  dsn(
    'Office 365',
    'hard',
    {
      text: "Your message to joe@dest.test couldn't be delivered.\n\nA problem occurred during the delivery of this message: the domain dest.test doesn't exist.",
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.4.310\nDiagnostic-Code: smtp;550 5.4.310 DNS domain dest.test does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=dest.test]',
    },
    MS,
  ),
  dsn(
    'Office 365',
    'hard',
    {
      text: "joe@dest.test\nRemote Server returned '550 5.1.351 Remote server returned unknown recipient or mailbox unavailable'",
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.1.351\nDiagnostic-Code: smtp;550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 5.1.1 <joe@dest.test>... User unknown',
    },
    MS,
  ),
  dsn(
    'Office 365',
    'hard',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.0.350\nDiagnostic-Code: smtp;550 5.0.350 Remote server returned an error -> 550 Mailbox does not exist: joe@dest.test',
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.4.316\nDiagnostic-Code: smtp;550 5.4.316 Message expired, connection refused(Socket error code 10061)',
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.2.122\nDiagnostic-Code: smtp;550 5.2.122 The recipient has exceeded their limit for the number of messages they can receive per hour.',
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.4.14\nDiagnostic-Code: smtp;554 5.4.14 Hop count exceeded - possible mail loop ATTR34 [AM0EUR02FT008.eop-EUR02.prod.protection.outlook.com]',
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.7.520\nDiagnostic-Code: smtp;550 5.7.520 Access denied, Your organization does not allow external forwarding. Please contact your administrator for further assistance. AS(7555)',
    },
    MS,
  ),
  dsn(
    'Office 365',
    'soft',
    {
      fields:
        'Final-Recipient: rfc822;joe@dest.test\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp;554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message due to a permanent exception',
    },
    MS,
  ),
];
