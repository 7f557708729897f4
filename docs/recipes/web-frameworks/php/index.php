<?php
// A PHP application that receives mail by webhook, answers it over REST, and sends mail over SMTP submission.
// It needs the extension curl and nothing else. In Laravel, the three functions are the same; routes and storage are Laravel's.

declare(strict_types=1);

function env(string $name): string {
    return getenv($name) ?: throw new RuntimeException("$name is not set");
}

function verify(string $secret, array $headers, string $body): bool {
    [$id, $seconds, $signatures] = array_map(fn ($name) => (string) ($headers["webhook-$name"] ?? ''), ['id', 'timestamp', 'signature']);
    if (abs(time() - (int) $seconds) > 300) return false;
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$seconds.$body", $key, true));
    foreach (explode(' ', $signatures) as $one)
        if (hash_equals($expected, $one)) return true;
    return false;
}

function run(array $options): void {
    $request = curl_init();
    curl_setopt_array($request, $options + [CURLOPT_TIMEOUT => 30, CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true]);
    if (curl_exec($request) === false) throw new RuntimeException(curl_error($request));
}

function reply(array $email, string $eventId): void {
    run([
        CURLOPT_URL => env('BASE') . "/api/e2/emails/{$email['id']}/reply",
        CURLOPT_HTTPHEADER => [
            'Authorization: Bearer ' . env('KEY'),
            'Content-Type: application/json',
            "Idempotency-Key: $eventId", // a webhook that is posted twice is answered once
        ],
        CURLOPT_POSTFIELDS => json_encode(['from' => env('FROM'), 'text' => "We received “{$email['subject']}”."]),
    ]);
}

function send(string $to, string $subject, string $text): void {
    if (preg_match('/[\r\n]/', $to . $subject)) throw new InvalidArgumentException('A field has more than one line');
    $fields = ['From' => env('FROM'), 'To' => $to, 'Subject' => mb_encode_mimeheader($subject), 'MIME-Version' => '1.0'];
    $fields += ['Content-Type' => 'text/plain; charset=utf-8', 'Content-Transfer-Encoding' => 'base64'];
    $lines = array_map(fn ($name, $value) => "$name: $value", array_keys($fields), $fields);
    $message = fopen('php://temp', 'r+');
    fwrite($message, implode("\r\n", $lines) . "\r\n\r\n" . chunk_split(base64_encode($text)));
    rewind($message);
    run([
        CURLOPT_URL => 'smtp://' . env('SERVER') . ':' . env('SUBMISSION_PORT') . '/localhost',
        CURLOPT_USE_SSL => CURLUSESSL_ALL, // STARTTLS, or no mail
        CURLOPT_CAINFO => env('CERT'),
        CURLOPT_USERPWD => 'postroom:' . env('KEY'),
        CURLOPT_MAIL_FROM => env('FROM'),
        CURLOPT_MAIL_RCPT => [$to],
        CURLOPT_UPLOAD => true,
        CURLOPT_INFILE => $message,
    ]);
}

// What the application knows. A real one has a database.
$store = env('STORE');
$events = is_file($store) ? json_decode(file_get_contents($store), true) : [];
$route = $_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

if ($route === 'POST /webhook') {
    $body = file_get_contents('php://input');
    if (!verify(env('SECRET'), array_change_key_case(getallheaders()), $body)) {
        http_response_code(401);
        return;
    }
    $event = json_decode($body, true);
    if ($event['type'] === 'email.received' && !isset($events[$event['id']])) {
        reply($event['email'], $event['id']);
        $events[$event['id']] = $event['email']['subject'];
        file_put_contents($store, json_encode($events), LOCK_EX);
    }
    http_response_code(204);
} elseif ($route === 'POST /notify') {
    send($_POST['to'], $_POST['subject'], $_POST['text']);
    http_response_code(204);
} elseif ($route === 'GET /') {
    header('Content-Type: application/json');
    echo json_encode(array_values($events));
} else {
    http_response_code(404);
}
