const OWN = '<div>Yes, that works for me.</div><div><br></div><div>Bob</div>';
const ORIGINAL = '<div>Shall we meet at noon?</div><div>Ann</div>';

/** Replies in HTML as mail programs write them: the program, and the HTML of a reply whose author typed {@link HTML_OWN}. */
export const HTML_REPLIES: readonly (readonly [program: string, html: string])[] = [
  [
    'Outlook desktop de',
    `<div class="WordSection1"><p class="MsoNormal">Yes, that works for me.<o:p></o:p></p><p class="MsoNormal">Bob<o:p></o:p></p><p class="MsoNormal"><o:p>&nbsp;</o:p></p><div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p class="MsoNormal"><b>Von:</b> Ann Smith &lt;ann@x.test&gt; <br><b>Gesendet:</b> Dienstag, 6. Januar 2026 10:11<br><b>An:</b> Bob &lt;bob@dest.test&gt;<br><b>Betreff:</b> Lunch<o:p></o:p></p></div></div><p class="MsoNormal"><o:p>&nbsp;</o:p></p><p class="MsoNormal">Shall we meet at noon?<o:p></o:p></p></div>`,
  ],
  [
    'Outlook unknown language',
    `<div>${OWN}</div><div style="border:none;border-top:solid #B5C4DF 1.0pt"><p class="MsoNormal"><b>Xfrm:</b> Ann Smith<br><b>Xsnt:</b> 2026-01-06 10:11<br><b>Xto:</b> Bob<br><b>Xsbj:</b> Lunch</p></div>${ORIGINAL}`,
  ],
  [
    'Outlook web',
    `<div>${OWN}</div><hr tabindex="-1" style="display:inline-block; width:98%"><div id="divRplyFwdMsg" dir="ltr"><font><b>От:</b> Ann<br><b>Отправлено:</b> x</font></div>${ORIGINAL}`,
  ],
  [
    'Outlook mobile',
    `<div dir="ltr">${OWN}</div><div id="ms-outlook-mobile-signature">Get <a>Outlook for iOS</a></div><hr><div id="divRplyFwdMsg">x</div>${ORIGINAL}`,
  ],
  [
    'Gmail',
    `<div dir="ltr">${OWN}</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">მარ., Ann &lt;ann@x.test&gt;:<br></div><blockquote class="gmail_quote" style="margin:0 0 0 .8ex;border-left:1px #ccc solid;padding-left:1ex">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Apple Mail',
    `<html><body>${OWN}<div><br><blockquote type="cite"><div>On 6 Jan 2026, at 10:11, Ann &lt;ann@x.test&gt; wrote:</div><br class="Apple-interchange-newline"><div>${ORIGINAL}</div></blockquote></div></body></html>`,
  ],
  [
    'Apple iOS',
    `<html><body dir="auto">${OWN}<br id="lineBreakAtBeginningOfSignature"><div dir="ltr">Von meinem iPhone gesendet</div><div dir="ltr"><br><blockquote type="cite">Am 06.01.2026 um 10:11 schrieb Ann &lt;ann@x.test&gt;:<br><br></blockquote></div><blockquote type="cite"><div dir="ltr">${ORIGINAL}</div></blockquote></body></html>`,
  ],
  [
    'Thunderbird',
    `<p>Yes, that works for me.</p><p>Bob</p><div class="moz-cite-prefix">06.01.2026 10:11, Ann пише:<br></div><blockquote type="cite" cite="mid:x">${ORIGINAL}</blockquote>`,
  ],
  [
    'Yahoo',
    `<div class="ydp1yahoo-style-wrap">${OWN}</div><div id="ydp1yahoo_quoted_1" class="ydp1yahoo_quoted"><div>Le mardi 6 janvier 2026 à 10:11:12 UTC+1, Ann &lt;ann@x.test&gt; a écrit :</div><div>${ORIGINAL}</div></div>`,
  ],
  [
    'Samsung',
    `<div dir="auto">${OWN}</div><div id="composer_signature"><div style="font-size:85%">Von meinem Samsung Gerät gesendet.</div></div><div><br></div><div style="font-size:100%"><!-- originalMessage --><div>-------- Ursprüngliche Nachricht --------</div><div>Von: Ann &lt;ann@x.test&gt; </div><div>Datum: 06.01.26 10:11 (GMT+01:00) </div><div>An: Bob </div><div>Betreff: Lunch </div></div>${ORIGINAL}`,
  ],
  [
    'GMX',
    `<div>${OWN}</div><div>&nbsp;<div name="quote" style="margin:10px 5px 5px 10px; padding: 10px 0 10px 10px; border-left:2px solid #C3D9E5;"><div style="margin:0 0 10px 0;"><b>Gesendet:</b> Dienstag, 06. Januar 2026 um 10:11 Uhr<br/><b>Von:</b> Ann<br/><b>An:</b> bob<br/><b>Betreff:</b> Lunch</div><div name="quoted-content">${ORIGINAL}</div></div></div>`,
  ],
  [
    'mail.ru',
    `<HTML><BODY>${OWN}<br><br><blockquote style="border-left:1px solid #0857A6; margin:10px; padding:0 0 0 10px;">Вторник, 6 января 2026, 10:11 +03:00 от Ann &lt;ann@x.test&gt;:<br><div id="">${ORIGINAL}</div></blockquote></BODY></HTML>`,
  ],
  [
    'Yandex',
    `<div>${OWN}</div><div>&nbsp;</div><div>06.01.2026, 10:11, "Ann" &lt;ann@x.test&gt;:</div><blockquote>${ORIGINAL}</blockquote>`,
  ],
  [
    'QQ',
    `<div>${OWN}</div><div><br></div><div style="font-size: 12px;font-family: Arial Narrow;padding:2px 0 2px 0;">------------------&nbsp;原始邮件&nbsp;------------------</div><div style="background:#efefef"><div><b>发件人:</b>&nbsp;"Ann"&lt;ann@x.test&gt;;</div><div><b>发送时间:</b>&nbsp;2026年1月6日 10:11</div><div><b>收件人:</b>&nbsp;"Bob";</div><div><b>主题:</b>&nbsp;Lunch</div></div><div><br></div>${ORIGINAL}`,
  ],
  [
    '163',
    `<div>${OWN}</div><div style="position:relative;zoom:1"></div><div id="divNeteaseMailCard"></div><br><pre><br>At 2026-01-06 10:11:12, "Ann" &lt;ann@x.test&gt; wrote:</pre><blockquote id="isReplyContent" style="PADDING-LEFT: 1ex; MARGIN: 0px 0px 0px 0.8ex; BORDER-LEFT: #ccc 1px solid">${ORIGINAL}</blockquote>`,
  ],
  [
    'Naver',
    `<div>${OWN}</div><p>&nbsp;</p><div class="replyPlaceHolder"><div style="border-top:1px solid #d3d3d3"><p>-----Original Message-----<br><b>From:</b> "Ann"&lt;ann@x.test&gt;<br><b>To:</b> bob<br><b>Sent:</b> 2026-01-06 (화) 10:11<br><b>Subject:</b> Lunch</p></div>${ORIGINAL}</div>`,
  ],
  [
    'Spark',
    `<div name="messageBodySection">${OWN}</div><div name="messageSignatureSection"><br>Sent from Spark</div><div name="messageReplySection">On 6 Jan 2026, 10:11 +0100, Ann &lt;ann@x.test&gt;, wrote:<br><blockquote type="cite">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Proton',
    `<div style="font-family:Arial">${OWN}</div><div class="protonmail_signature_block"><div>Sent with Proton Mail secure email.</div></div><div class="protonmail_quote">On Tuesday, January 6th, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<br><blockquote class="protonmail_quote" type="cite">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Zoho',
    `<div>${OWN}</div><div class="zmail_extra" style=""><br><div id="Zm-_Id_-Sgn1">---- On Tue, 06 Jan 2026 10:11:12 +0100 <b>Ann &lt;ann@x.test&gt;</b> wrote ---</div><br><blockquote id="blockquote_zmail">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Zoho unknown language',
    `<div>${OWN}</div><div class="zmail_extra" style="">---- xx Ann yy ---<div>${ORIGINAL}</div></div>`,
  ],
  [
    'HubSpot',
    `<div>${OWN}</div><div class="hs_reply"><div class="hs_reply_header">Am Di., Jan 6, 2026 um 10:11 AM, Ann &lt;<a>ann@x.test</a>&gt; schrieb:</div><blockquote>${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Front',
    `<div>${OWN}</div><br><div class="front-signature">Bob</div><div class="front-blockquote">On January 6, 2026 at 10:11 AM Ann wrote<blockquote type="cite" class="front-blockquote">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Superhuman',
    `<div>${OWN}</div><br><div class="gmail_signature"><div class="sh-signature">Sent via Superhuman</div></div><br><div class="sh-quoted-content"><div class="gmail_quote">On Tue, Jan 06, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<br><blockquote class="gmail_quote sh-color-black">${ORIGINAL}</blockquote></div></div>`,
  ],
  [
    'Notes',
    `<div><font size=2 face="sans-serif">Yes, that works for me.</font><br><br><font size=2>Bob</font><br><br><br><br><font size=1 color=#5f5f5f face="sans-serif">From: &nbsp; &nbsp; &nbsp; &nbsp;</font><font size=1 face="sans-serif">Ann Smith/HQ/Example</font><br><font size=1 color=#5f5f5f>To: &nbsp; &nbsp;</font><font size=1>Bob/HQ/Example@Example</font><br><font size=1>Date: &nbsp; &nbsp;</font><font size=1>06.01.2026 10:11</font><br><font size=1>Subject: &nbsp;</font><font size=1>Lunch</font><br><hr noshade><br>Shall we meet at noon?</div>`,
  ],
  [
    'Notes German table',
    `<div>Yes, that works for me.<br><br>Bob</div><br><br><table width=100%><tr valign=top><td width=40%><font size=1><b>Ann Smith/HQ/Example</b> </font><p><font size=1>06.01.2026 10:11</font><td><table><tr><td align=right><font size=1>An</font><td><font size=1>Bob</font><tr><td><font size=1>Kopie</font><td><tr><td><font size=1>Thema</font><td><font size=1>Lunch</font></table></table><br>Shall we meet at noon?`,
  ],
  [
    'GroupWise',
    `<div>${OWN}</div><br><br>&gt;&gt;&gt; Ann Smith &lt;ann@x.test&gt; 1/6/2026 10:11 AM &gt;&gt;&gt;<br><table style="margin:0 0 0 15px;border-left:1px solid #050505"><tr><td>${ORIGINAL}</td></tr></table>`,
  ],
  [
    'Roundcube',
    `<div id="v1">${OWN}</div><p id="reply-intro">06.01.2026 10:11 tarihinde Ann yazdı:</p><blockquote type="cite" style="padding: 0 0.4em; border-left: #1010ff 2px solid; margin: 0">${ORIGINAL}</blockquote>`,
  ],
  [
    'Zimbra',
    `<div>${OWN}</div><hr id="zwchr" data-marker="__DIVIDER__"><div data-marker="__HEADERS__"><b>Od: </b>"Ann" &lt;ann@x.test&gt;<br><b>Do: </b>"Bob"<br><b>Wysłane: </b>wtorek, 6 stycznia 2026 10:11<br><b>Temat: </b>Lunch<br></div><div data-marker="__QUOTED_TEXT__">${ORIGINAL}</div>`,
  ],
  [
    'Evolution',
    `<div>${OWN}</div><div><br></div><div>On Tue, 2026-01-06 at 10:11 +0100, Ann wrote:</div><blockquote type="cite" style="margin:0 0 0 .8ex; border-left:2px #729fcf solid;padding-left:1ex">${ORIGINAL}</blockquote>`,
  ],
  [
    'KMail',
    `<p>Yes, that works for me.</p><p>Bob</p><p>Am Dienstag, 6. Januar 2026, 10:11:12 CET schrieb Ann:</p><p>&gt; Shall we meet at noon?</p><p>&gt; Ann</p>`,
  ],
  [
    'eM Client',
    `<div>${OWN}</div><div>&nbsp;</div><div>------ Původní zpráva ------</div><div>Od: "Ann" &lt;<a>ann@x.test</a>&gt;</div><div>Komu: "Bob" &lt;<a>bob@dest.test</a>&gt;</div><div>Datum: 06.01.2026 10:11:12</div><div>Předmět: Lunch</div><div>&nbsp;</div><div id="x1" class="plain"><blockquote cite="x" type="cite" class="cite2">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Mailbird',
    `<div>${OWN}</div><div class="mb_sig"></div><blockquote class="history_container" type="cite" style="border-left-style:solid;border-width:1px;margin-top:20px;margin-left:0px;padding-left:10px"><p style="color:#AAAAAA;margin-top:10px">On 1/6/2026 10:11:12 AM, Ann &lt;ann@x.test&gt; wrote:</p>${ORIGINAL}</blockquote>`,
  ],
  [
    'Newton',
    `<div>${OWN}</div><div class="cm_signature"></div><div class="cm_quote" style="color:#787878">On Tue, Jan 6, 2026 at 10:11am, Ann &lt;ann@x.test&gt; wrote:</div><br><div id="oldcontent"><blockquote>${ORIGINAL}</blockquote></div>`,
  ],
  [
    'BlueMail',
    `<div dir="auto">${OWN}</div><div dir="auto">Get <a>BlueMail for Android</a></div><div class="gmail_quote"><div>On Jan 6, 2026, at 10:11, Ann &lt;ann@x.test&gt; wrote:</div><blockquote class="gmail_quote">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Windows Mail',
    `<div>${OWN}</div><div>Sent from <a>Mail</a> for Windows</div><div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in'><p><b>From: </b><a>Ann</a><br><b>Sent: </b>Tuesday, January 6, 2026 10:11 AM<br><b>To: </b>Bob<br><b>Subject: </b>Lunch</p></div>${ORIGINAL}`,
  ],
  [
    'Fastmail',
    `<div>${OWN}</div><div>On Tue, 6 Jan 2026, at 10:11 AM, Ann wrote:<br></div><blockquote type="cite" id="qt" style="">${ORIGINAL}</blockquote>`,
  ],
  [
    'HEY',
    `<div>${OWN}</div><div>On January 6, 2026, Ann &lt;ann@x.test&gt; wrote:</div><blockquote data-hey-quote>${ORIGINAL}</blockquote>`,
  ],
  [
    'Tutanota',
    `<div>${OWN}</div><div>6. Jan. 2026, 10:11 von ann@x.test:<br></div><blockquote class="tutanota_quote">${ORIGINAL}</blockquote>`,
  ],
  [
    'OX',
    `<div>${OWN}</div><blockquote type="cite"><div>Ann &lt;ann@x.test&gt; hat am 06.01.2026 10:11 CET geschrieben:</div>${ORIGINAL}</blockquote>`,
  ],
  [
    'Kerio',
    `<div>${OWN}</div><br><div id="kerio-connect-quote">On Jan 6, 2026, at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<blockquote class="KerioQuote">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Horde',
    `<p>${OWN}</p><p>Zitat von Ann &lt;ann@x.test&gt;:</p><blockquote type="cite" style="border-left:2px solid blue;margin-left:2px;padding-left:12px;">${ORIGINAL}</blockquote>`,
  ],
  [
    'SOGo',
    `<p>Yes, that works for me.</p><p>Bob</p><br>Le Mardi, Janvier 06, 2026 10:11 CET, Ann &lt;ann@x.test&gt; a écrit:<br><blockquote type="cite" cite="x">${ORIGINAL}</blockquote>`,
  ],
  [
    'Orange',
    `<div>${OWN}</div><br><blockquote style="border-left: 2px solid #ff6600;padding-left:3px">&gt; Message du 06/01/26 10:11<br>&gt; De : "Ann" &lt;ann@x.test&gt;<br>&gt; A : bob<br>&gt; Copie à : <br>&gt; Objet : Lunch<br>&gt; <br>${ORIGINAL}</blockquote>`,
  ],
  [
    'Libero',
    `<div>${OWN}</div><div class="iol-quote"><div>Il 6 gennaio 2026 alle 10.11 Ann &lt;ann@x.test&gt; ha scritto: <br></div><div>${ORIGINAL}</div></div>`,
  ],
  [
    'WP.pl',
    `<div>${OWN}</div><div class="nh_extra"><div class="nh_quote"><div>Dnia 6 stycznia 2026 10:11 Ann &lt;ann@x.test&gt; napisał(a):</div><blockquote>${ORIGINAL}</blockquote></div></div>`,
  ],
  [
    'Seznam',
    `<div>${OWN}</div><aside><br>---------- Původní e-mail ----------<br>Od: Ann &lt;ann@x.test&gt;<br>Komu: bob<br>Datum: 6. 1. 2026 10:11:12<br>Předmět: Lunch </aside><blockquote data-email="ann@x.test">${ORIGINAL}</blockquote>`,
  ],
  [
    'Help Scout',
    `<div>${OWN}</div><div style="color:#b0b0b0">## Bitte antworten Sie oberhalb dieser Zeile ##</div>${ORIGINAL}`,
  ],
  ['device unmarked', `${OWN}<div><br></div><div>Envoyé de mon iPhone</div><div><br></div>${ORIGINAL}`],
  [
    'moz forward container in reply',
    `${OWN}<div class="moz-forward-container">-------- Forwarded --------${ORIGINAL}</div>`,
  ],
  [
    'indented div with border',
    `${OWN}<div><br></div><div>Ann &lt;ann@x.test&gt; skrev 2026-01-06 10:11:</div><div style="border-left:1px solid #ccc;padding-left:8px">${ORIGINAL}</div>`,
  ],
  [
    'table layout quote',
    `<table><tr><td>${OWN}</td></tr><tr><td><hr></td></tr><tr><td>From: Ann &lt;ann@x.test&gt;</td></tr><tr><td>Sent: Tuesday, January 6, 2026 10:11 AM</td></tr><tr><td>To: Bob</td></tr><tr><td>Subject: Lunch</td></tr><tr><td>${ORIGINAL}</td></tr></table>`,
  ],
  [
    'Mimestream',
    `<div>${OWN}</div><div class="mimestream-quote">On Jan 6, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<blockquote>${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Teams/Copilot',
    `<div class="elementToProof">${OWN}</div><div id="appendonsend"></div><hr style="display:inline-block;width:98%"><div><b>差出人:</b> Ann</div>${ORIGINAL}`,
  ],
  [
    'Outlook new',
    `<div class="elementToProof">${OWN}</div><div id="mail-editor-reference-message-container"><hr><div dir="ltr"><b>From:</b> Ann</div>${ORIGINAL}</div>`,
  ],
  [
    'Missive',
    `<div>${OWN}</div><div class="missive_quote">On January 6, 2026 at 10:11 AM, Ann (ann@x.test) wrote:<blockquote class="missive_quote">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Polymail',
    `<div>${OWN}</div><div class="psignature"></div><div class="pmquote">On Tue, Jan 6th, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<blockquote class="gmail_quote">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Canary',
    `<div>${OWN}</div><div id="CanarySig">Sent with Canary</div><div id="CanaryBlockQuoteForReply" class="CanaryBlockQuote"><div>On Tuesday, Jan 6, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:</div><blockquote type="cite">${ORIGINAL}</blockquote></div>`,
  ],
  [
    'Edison',
    `<div id="edo-message">${OWN}</div><div id="edo-signature">Sent from Edison Mail</div><div id="edo-original"><blockquote type="cite">On Tuesday, Jan 06, 2026 at 10:11 AM, Ann &lt;ann@x.test&gt; wrote:<br>${ORIGINAL}</blockquote></div>`,
  ],
  [
    'myMail',
    `<div>${OWN}</div><div id="mail-app-auto-default-signature"><p>--<br>Sent from myMail</p></div>Tuesday, 06 January 2026, 10:11 +0100 from Ann &lt;ann@x.test&gt;:<br><blockquote id="mail-app-auto-quote" cite="x" style="border-left:1px solid #005FF9">${ORIGINAL}</blockquote>`,
  ],
  [
    'K-9',
    `${OWN}<br><br><div class="gmail_quote"><div dir="auto">Am 6. Januar 2026 10:11:12 MEZ schrieb Ann &lt;ann@x.test&gt;:</div><blockquote class="gmail_quote" style="margin: 0pt 0pt 0pt 0.8ex; border-left: 1px solid rgb(204, 204, 204);">${ORIGINAL}</blockquote></div>`,
  ],
];

export const HTML_OWN = 'Yes, that works for me. Bob';
