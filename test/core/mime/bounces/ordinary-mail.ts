/** Ordinary mail, which only resembles a report or speaks of one, written before the first look. Nothing in it says that mail was not delivered to its recipient now. */
interface OrdinaryMail {
  name: string;
  from: string;
  subject: string;
  text: string;
}

const person = 'Joe Doe <joe@dest.test>';

export const ORDINARY_MAIL: readonly OrdinaryMail[] = [
  {
    name: 'a question about a refusal',
    from: person,
    subject: 'Your mail to Ann',
    text: 'Hi,\n\nmy mail to ann@other.example came back with "550 5.1.1 user unknown". Do you have her new address?\n\nJoe',
  },
  {
    name: 'a new address of a colleague',
    from: person,
    subject: 'New address',
    text: 'Please note that ann@dest.test does not exist any more. Her new address is ann@new.example.\n\nJoe',
  },
  {
    name: 'a manual of a mail server',
    from: person,
    subject: 'How to read reports',
    text: 'When a message could not be delivered, the server returns:\n\n    550 5.1.1 <user@example.com>: Recipient address rejected: User unknown\n\nThis is a permanent error. Remove the address from your list.',
  },
  {
    name: 'a parcel that was not delivered',
    from: 'Parcels <info@parcel.example>',
    subject: 'Delivery failed: your parcel 4711',
    text: 'Dear customer,\n\nyour parcel could not be delivered today because the recipient was not at home. We try again tomorrow.\n\nYour parcel service',
  },
  {
    name: 'a parcel with an unknown address',
    from: 'Parcels <noreply@parcel.example>',
    subject: 'Undeliverable: parcel 4711',
    text: 'The address is unknown: Main Street 5 was not found. The parcel is returned to its sender. Please correct the address of the recipient.',
  },
  {
    name: 'a payment that was returned',
    from: 'Bank <service@bank.example>',
    subject: 'Returned payment',
    text: 'Your transfer was returned to you because the account of the recipient does not exist. IBAN: DE00 0000. Reason: account unknown.',
  },
  {
    name: 'a monthly figure of bounces',
    from: 'Reports <stats@sender.example>',
    subject: 'Mail statistics: 4 undeliverable messages',
    text: 'October: 1,204 delivered, 4 bounced.\n\njoe@dest.test: user unknown (2 October)\nann@dest.test: mailbox full (9 October)',
  },
  {
    name: 'a ticket about undelivered mail',
    from: 'Help desk <desk@help.example>',
    subject: '[#991] Delivery Status Notification (Failure) for our newsletter',
    text: 'Ticket 991 was updated by Mara:\n\nThe customer says that mail to joe@dest.test fails with "mailbox not found". Can someone look at the relay?',
  },
  {
    name: 'an offer by a postmaster',
    from: 'Postmaster <postmaster@dest.test>',
    subject: 'Maintenance on Sunday',
    text: 'Our mail server is replaced on Sunday from 2 to 4. Mail may be delayed. You need not do anything.',
  },
  {
    name: 'a question of a postmaster',
    from: 'Postmaster <postmaster@dest.test>',
    subject: 'Mail to our users',
    text: 'Hello, you send much mail to addresses that do not exist here. Could you remove unknown users from your list, please? Contact me for a copy of the log.',
  },
  {
    name: 'a reply that quotes a report',
    from: person,
    subject: 'Re: Undelivered Mail Returned to Sender',
    text: 'I restarted the server; it works again. Please send it once more.\n\n> This is the mail system at host relay.test.\n>\n> <joe@dest.test>: host dest.test said: 550 5.1.1 User unknown',
  },
  {
    name: 'a letter in German about a returned letter',
    from: person,
    subject: 'Brief kam zurück',
    text: 'Hallo,\n\nmein Brief an Sie kam zurück: Empfänger unbekannt verzogen. Wie lautet Ihre neue Anschrift?\n\nJoe',
  },
  {
    name: 'a letter in French about an account',
    from: person,
    subject: 'Compte supprimé',
    text: "Bonjour,\n\nvotre site dit que l'utilisateur est inconnu quand je me connecte. Mon compte a-t-il été supprimé ?\n\nJoe",
  },
  {
    name: 'a failed sign-in',
    from: 'Shop <noreply@shop.example>',
    subject: 'Failed: user not found',
    text: 'Someone tried to sign in with an address that does not exist in our shop. If this was you, create an account.',
  },
  {
    name: 'an alert of a monitor',
    from: 'Monitor <mailer-daemon@monitor.example>',
    subject: 'Alert: host unknown',
    text: 'Check 12 failed: host db1.dest.test not found. State: unknown. Next check in 5 minutes.',
  },
  {
    name: 'an error of a scanner',
    from: 'Scanner <scanner@dest.test>',
    subject: 'Transmission error',
    text: 'The scan could not be sent to folder \\\\srv\\scans: user unknown or wrong password. Error code 550.',
  },
  {
    name: 'a list that rejects a post',
    from: 'list-owner@lists.example',
    subject: 'Your message to dev was rejected',
    text: 'You are not a member of the list dev@lists.example. Your message was rejected. Subscribe first.',
  },
  {
    name: 'a moderated post',
    from: 'dev-bounces@lists.example',
    subject: 'Your message to dev awaits moderator approval',
    text: 'Your mail to dev with the subject "Hello" is being held until the list moderator can review it for approval. The reason it is being held: post by non-member to a members-only list.',
  },
  {
    name: 'a confirmation of reading',
    from: person,
    subject: 'Read: Your order 7713',
    text: 'Your message\n\n   To: joe@dest.test\n   Subject: Your order 7713\n   Sent: Monday, 2 November 2026\n\nwas read on Tuesday, 3 November 2026.',
  },
  {
    name: 'a message that was recalled',
    from: person,
    subject: 'Recall: Offer',
    text: 'Joe Doe would like to recall the message "Offer". The message could not be delivered as planned.',
  },
  {
    name: 'a person who left, by a colleague',
    from: 'Ann Lee <ann@dest.test>',
    subject: 'Joe',
    text: 'Joe no longer works here. I have taken over his customers, so write to me from now on.\n\nAnn',
  },
  {
    name: 'a story about a mailer daemon',
    from: person,
    subject: 'Mailer-Daemon, a poem',
    text: 'O daemon, you returned my verse,\naddressee unknown, and worse:\nno such user, no such heart.',
  },
];
