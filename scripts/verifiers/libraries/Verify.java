// Verifies deliveries with the Java library of Standard Webhooks; see ../../check-libraries.ts. The
// file of cases has a line for each delivery, with tabs between name, secret, id, timestamp,
// signature and the body in base64.

import com.standardwebhooks.Webhook;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Verify {
  private static int refused = 0;

  public static void main(String[] args) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(args[0]));
    for (String line : lines) verify(line.split("\t"));
    System.out.println(lines.size() + " deliveries accepted, " + refused + " changed ones refused");
  }

  private static void verify(String[] fields) {
    String name = fields[0];
    Webhook webhook = new Webhook(fields[1]);
    byte[] body = Base64.getDecoder().decode(fields[5]);
    Map<String, byte[]> headers = new HashMap<>();
    headers.put("webhook-id", fields[2].getBytes(StandardCharsets.UTF_8));
    headers.put("webhook-timestamp", fields[3].getBytes(StandardCharsets.UTF_8));
    headers.put("webhook-signature", fields[4].getBytes(StandardCharsets.UTF_8));
    if (!accepts(webhook, body, headers)) throw new IllegalStateException(name + " is refused");
    for (int bit = 0; bit < body.length * 8; bit++) {
      if (accepts(webhook, flipped(body, bit), headers)) fail(name, bit, "the body");
      refused++;
    }
    for (String header : List.of("webhook-id", "webhook-timestamp")) {
      byte[] value = headers.get(header);
      for (int bit = 0; bit < value.length * 8; bit++) {
        Map<String, byte[]> changed = new HashMap<>(headers);
        changed.put(header, flipped(value, bit));
        if (accepts(webhook, body, changed)) fail(name, bit, header);
        refused++;
      }
    }
  }

  private static boolean accepts(Webhook webhook, byte[] body, Map<String, byte[]> headers) {
    Map<String, List<String>> texts = new HashMap<>();
    headers.forEach((name, value) -> texts.put(name, List.of(new String(value, StandardCharsets.ISO_8859_1))));
    try {
      webhook.verify(new String(body, StandardCharsets.UTF_8), texts);
      return true;
    } catch (Exception refusal) {
      return false;
    }
  }

  private static byte[] flipped(byte[] bytes, int bit) {
    byte[] changed = bytes.clone();
    changed[bit / 8] ^= (byte) (1 << (bit % 8));
    return changed;
  }

  private static void fail(String name, int bit, String what) {
    throw new IllegalStateException(name + " is accepted with bit " + bit + " of " + what + " flipped");
  }
}
