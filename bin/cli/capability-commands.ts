/** Written by `npm run contracts` from operations/capability/capabilities.ts. */
export const capabilityCommands = [
  {
    "path": "/suppressions",
    "name": "suppressions",
    "description": "Lists suppressed addresses, or creates or deletes a suppression: the address gets no more mail.",
    "columns": {
      "id": "ID",
      "address": "Address",
      "reason": "Reason",
      "created_at": "Since"
    },
    "empty": "There are no suppressions.",
    "create": {
      "create": {
        "field": "address",
        "description": "suppress this address"
      },
      "detail": {
        "field": "detail",
        "description": "your note about it"
      }
    },
    "examples": [
      "postroom suppressions",
      "postroom suppressions --create ada@example.org --detail \"asked by phone\"",
      "postroom suppressions --delete ada@example.org"
    ]
  },
  {
    "path": "/reply-addresses",
    "name": "reply-addresses",
    "description": "Lists reply addresses, or creates or revokes one: a signed address for replies.",
    "columns": {
      "id": "ID",
      "address": "Address",
      "status": "Status",
      "message_count": "Messages",
      "expires_at": "Expires"
    },
    "empty": "There are no reply addresses.",
    "create": {
      "create": {
        "field": "domain",
        "description": "create one on this verified domain"
      },
      "deliver-to": {
        "field": "deliver_to",
        "description": "address of the domain that gets the mail"
      },
      "thread": {
        "field": "thread_id",
        "description": "ID of the thread that its mail joins"
      },
      "expires": {
        "field": "expires_at",
        "description": "when it stops accepting mail, in ISO 8601"
      }
    },
    "examples": [
      "postroom reply-addresses",
      "postroom reply-addresses --create example.com --thread th_...",
      "postroom reply-addresses --delete rpl_..."
    ]
  },
  {
    "path": "/refusals",
    "name": "refusals",
    "description": "Lists mail that was refused before it was accepted, and why.",
    "columns": {
      "last_at": "Last",
      "times": "Times",
      "recipient": "Recipient",
      "sender": "Sender",
      "client_address": "Client",
      "reply": "Reply"
    },
    "empty": "No mail was refused in the last 7 days.",
    "filter": {
      "search": {
        "field": "search",
        "description": "part of the recipient, the sender, or the client"
      },
      "reason": {
        "field": "reason",
        "description": "such as unknown_recipient or block_list"
      }
    },
    "isReadOnly": true,
    "examples": [
      "postroom refusals",
      "postroom refusals --search ada@example.org"
    ]
  }
] as const;
