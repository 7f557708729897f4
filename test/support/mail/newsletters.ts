/** Newsletters as companies send them, written for tests and pictures, by name. */
export const NEWSLETTERS: ReadonlyMap<string, string> = new Map([
  [
    'shop',
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Not shown</title><style>
    body { margin: 0; background: #f3ede4; font-family: Georgia, serif; color: #3b2f2f; }
    .preheader { display: none; max-height: 0; overflow: hidden; }
    .card { width: 600px; margin: 24px auto; background: #fff; border-radius: 12px; overflow: hidden; box-shadow: 0 2px 8px rgba(0,0,0,.15); }
    .hero { background: linear-gradient(120deg, #7a4b2b, #c98b4e); color: #fff; padding: 40px 32px; }
    .hero h1 { margin: 0 0 8px; font-size: 34px; }
    .columns { display: flex; gap: 16px; padding: 24px 32px; }
    .columns div { flex: 1; padding: 12px; border: 1px solid #e5d9c9; border-radius: 8px; font: 14px/1.5 Arial, sans-serif; }
    .columns div:nth-child(2) { background: #faf5ee; }
    a.button:link { display: inline-block; padding: 12px 28px; border-radius: 24px; background: #7a4b2b; color: #fff; text-decoration: none; font: bold 16px Arial, sans-serif; }
    .footer { padding: 16px 32px; font: 12px Arial, sans-serif; color: #8c7b6b; border-top: 1px solid #e5d9c9; }
    @media (max-width: 480px) { .card { width: auto } .columns { display: block } }
    </style></head><body><div class="preheader">Three new roasts</div><div class="card">
    <div class="hero"><h1>Autumn roasts</h1><p>Three new coffees, roasted on Monday and at your door on Thursday.</p></div>
    <div class="columns"><div><img src="https://shop.example/kochere.jpg" width="140" height="90"><h3>Kochere</h3>Peach and black tea, from 1,900 m.</div>
    <div><h3>Huila</h3>Caramel and orange, for every day.</div><div><h3>Night shift</h3>Decaf that tastes of coffee.</div></div>
    <p style="text-align:center"><a class="button" href="https://shop.example/">See all coffees</a></p>
    <div class="footer">You get this because you ordered from us. <a href="https://shop.example/out" style="color:#8c7b6b">Unsubscribe</a></div>
    </div></body></html>`,
  ],
  [
    'bulletin',
    `<html><head><title>Not shown</title><style><!-- td { font-family: Verdana, Arial; font-size: 12px } .head { color: #ffffff; font-weight: bold }
    A:link { color: #006633 } --></style></head><body bgcolor="#dde6dd" text="#223322" link="#006633" leftmargin=0 topmargin=12 marginwidth=0>
    <center><table width=620 cellpadding=0 cellspacing=0 border=0 bgcolor="#ffffff">
    <tr><td colspan=3 bgcolor="#336633" height=60 class=head>&nbsp;&nbsp;<font size=5 face="Georgia">Garden Bulletin</font>
    <tr><td width=180 valign=top bgcolor="#eef4ee"><table cellpadding=10 width=100%><tr><td><b>This month</b><ul><li><a href="https://garden.example/1">Bulbs</a><li><a href="https://garden.example/2">Compost</a><li><a href="https://garden.example/3">Hedges</a></ul>
    <img src="https://garden.example/spade.gif" width=140 height=120 alt="A spade"></table>
    <td width=1 bgcolor="#336633"><img src="https://garden.example/dot.gif" width=1 height=1>
    <td valign=top><table cellpadding=12 border=0><tr><td><font color="#993300" size=4>Plant now, look forward to spring</font>
    <p>Tulips want cold feet. Put them three times as deep as they are tall, and cover them with leaves from your own garden.
    <p>Daffodils are less choosy: they come back every year, and no mouse likes them.
    <tr><td bgcolor="#fff8dc" align=center><b>Our shop is open on Saturdays from 9 to 12.</b></table>
    <tr><td colspan=3 bgcolor="#336633" align=center class=head>The gardeners of Elm Street</table></center></body></html>`,
  ],
  [
    'invoice',
    `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
    <html xmlns="http://www.w3.org/1999/xhtml"><head><title>Not shown</title><!--[if mso]><style>td{display:none}</style><![endif]-->
    <style type="text/css">#outlook a{padding:0} .ExternalClass{width:100%} body{width:100%!important;margin:0;padding:0;background-color:#eef1f6}
    table{border-collapse:collapse} h2{color:#1f3a68!important;font-family:Helvetica,Arial,sans-serif} td.amount{text-align:right;font-weight:bold}
    tr.line td{border-bottom:1px solid #cbd5e5;padding:10px 6px} @media only screen and (max-width:480px){table[class=w]{width:300px!important}}</style></head>
    <body><div style="display:none;font-size:1px;color:#eef1f6;opacity:0">Your invoice of November</div>
    <table width="100%" bgcolor="#eef1f6"><tr><td align="center"><table class="w" width="560" cellpadding="0" cellspacing="0" style="background-color:#ffffff;margin-top:20px;border-top:6px solid #2f6fde">
    <tr><td style="padding:24px 30px"><img src="https://bill.example/logo.png" width="160" height="40" style="display:block" /><h2>Invoice 2041</h2>
    <p style="font:14px/21px Helvetica,Arial,sans-serif;color:#445">Thank you. These are the services of last month.</p>
    <table width="100%" style="font:14px Arial,sans-serif"><tr class="line"><td>Mailboxes, 12</td><td class="amount">36.00</td></tr><tr class="line"><td>Storage, 40 GB</td><td class="amount">8.00</td></tr>
    <tr><td style="padding:10px 6px">Total</td><td class="amount" style="padding:10px 6px;color:#2f6fde;font-size:18px">44.00</td></tr></table>
    <table cellpadding="0" cellspacing="0" style="margin:24px auto"><tr><td bgcolor="#2f6fde" style="border-radius:6px;padding:12px 30px"><a href="https://bill.example/pay" style="color:#ffffff;text-decoration:none;font:bold 15px Arial">Pay invoice</a></td></tr></table>
    </td></tr></table></td></tr></table></body></html>`,
  ],
]);
