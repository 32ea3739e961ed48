package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const values = "testdata/values.env"

// names returns the values that a template demands.
func names(t *testing.T, template string) []string {
	t.Helper()
	faults, err := unfilled(filepath.Join("../k8s/templates", template))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, fault := range faults {
		name, _, _ := strings.Cut(fault, " ")
		found = append(found, name)
	}
	return found
}

func TestATemplateDoesNotRenderWithoutAnyOfItsValues(t *testing.T) {
	for _, template := range []string{"production", "staging"} {
		demanded := names(t, template)
		if len(demanded) < 9 || !slices.Contains(demanded, "TRUSTED_PROXIES") {
			t.Errorf("%s demands %q", template, demanded)
		}
		for _, name := range demanded {
			_, err := renderFilled("../k8s", "templates/"+template, values, name)
			if err == nil || !strings.Contains(err.Error(), "data."+name) {
				t.Errorf("%s without %s: %v", template, name, err)
			}
		}
		if _, err := render("../k8s/templates/" + template); err == nil {
			t.Errorf("%s renders as it is shipped", template)
		}
	}
}

func TestACopyOfATemplateIsCheckedForEveryValue(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../k8s")); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(folder, "overlays/acme")
	if err := os.CopyFS(copied, os.DirFS("../k8s/templates/production")); err != nil {
		t.Fatal(err)
	}
	_, faults, err := renderTarget(folder, "overlays/acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names(t, "production") {
		expectFault(t, faults, name+" is not filled in deployment.env")
	}
	filling, err := os.ReadFile(values)
	if err != nil {
		t.Fatal(err)
	}
	filled := append([]byte("NAMESPACE=vidimus\n"), filling...)
	if err := os.WriteFile(filepath.Join(copied, valuesFile), filled, 0o644); err != nil {
		t.Fatal(err)
	}
	objects, faults, err := renderTarget(folder, "overlays/acme")
	if err != nil || len(faults) > 0 || len(checkPlaceholders(objects)) > 0 {
		t.Errorf("%v %q %q", err, faults, checkPlaceholders(objects))
	}
	empty := strings.Replace(string(filled), "API_HOST=api.vidimus.test", "API_HOST=", 1)
	if err := os.WriteFile(filepath.Join(copied, valuesFile), []byte(empty), 0o644); err != nil {
		t.Fatal(err)
	}
	_, faults, err = renderTarget(folder, "overlays/acme")
	if err != nil {
		t.Fatal(err)
	}
	expectFault(t, faults, "API_HOST is not filled")
}

func TestPlaceholders(t *testing.T) {
	for name, text := range map[string]string{
		"vidimus.example":                   "host: api.vidimus.example",
		"registry.example.org":              "image: registry.example.org/vidimus/gateway",
		"198.51.100.0":                      "TRUSTED_PROXIES: 198.51.100.0/24",
		"sha256:" + strings.Repeat("0", 64): "image: nats@sha256:" + strings.Repeat("0", 64),
		"…":                                 "image: nats@sha256:…",
	} {
		faults := checkPlaceholders([]object{{"ConfigMap", "gateway-settings", []byte(text)}})
		expectFault(t, faults, "ConfigMap/gateway-settings has the placeholder", name)
	}
	if faults := checkPlaceholders([]object{{"Ingress", "gateway", []byte("host: api.acme.eu\nimage: a@sha256:01")}}); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

func TestTheVersionIsThatOfPackageJSON(t *testing.T) {
	text, err := os.ReadFile("../../package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Version string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	set, _ := production(t)
	for _, service := range []string{"gateway", "documents", "phrases", "signing", "delivery", "documents-migrate"} {
		if found := set.workload(service).template.Labels["app.kubernetes.io/version"]; found != manifest.Version {
			t.Errorf("%s has version %q, package.json %q", service, found, manifest.Version)
		}
	}
}

// The identities at the broker are those that the services prove.
func TestIdentitiesAtAPathOfTheDeployment(t *testing.T) {
	objects, err := render("../k8s/tests/other-names")
	if err != nil {
		t.Fatal(err)
	}
	set, err := newSet(objects)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, workload := range []string{"gateway", "nats"} {
		for _, variable := range set.workload(workload).template.Spec.Containers[0].Env {
			values[variable.Name] = variable.Value
		}
	}
	if values["IDENTITY_PATH"] != "/ns/vidimus-test/sa/{service}" ||
		values["DELIVERY_IDENTITY"] != "spiffe://vidimus.example/ns/vidimus-test/sa/delivery" {
		t.Errorf("%q", values)
	}
}
