// Verifies deliveries with the Go library of Standard Webhooks; see ../../check-libraries.ts.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type delivery struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func main() {
	content, err := os.ReadFile(os.Args[1])
	check(err)
	var deliveries []delivery
	check(json.Unmarshal(content, &deliveries))
	refused := 0
	for _, each := range deliveries {
		refused += verify(each)
	}
	fmt.Printf("%d deliveries accepted, %d changed ones refused\n", len(deliveries), refused)
}

// verify returns how many changed copies were refused, and ends the program when one was not.
func verify(each delivery) int {
	webhook, err := standardwebhooks.NewWebhook(each.Secret)
	check(err)
	body, err := base64.StdEncoding.DecodeString(each.Body)
	check(err)
	headers := http.Header{}
	for name, value := range each.Headers {
		headers.Set(name, value)
	}
	check(webhook.Verify(body, headers))
	refused := 0
	for bit := 0; bit < len(body)*8; bit++ {
		if webhook.Verify(flipped(body, bit), headers) == nil {
			fail("%s is accepted with bit %d of the body flipped", each.Name, bit)
		}
		refused++
	}
	for _, name := range []string{"webhook-id", "webhook-timestamp"} {
		value := []byte(headers.Get(name))
		for bit := 0; bit < len(value)*8; bit++ {
			changed := headers.Clone()
			changed.Set(name, string(flipped(value, bit)))
			if webhook.Verify(body, changed) == nil {
				fail("%s is accepted with bit %d of %s flipped", each.Name, bit, name)
			}
			refused++
		}
	}
	return refused
}

func flipped(bytes []byte, bit int) []byte {
	changed := append([]byte{}, bytes...)
	changed[bit/8] ^= 1 << (bit % 8)
	return changed
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
