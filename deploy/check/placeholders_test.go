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

// names returns the values that a folder of deploy/k8s demands.
func names(t *testing.T, folder string) []string {
	t.Helper()
	faults, err := unfilled(filepath.Join("../k8s", folder))
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

// expectDemanded expects that a target does not render without any one of some values.
func expectDemanded(t *testing.T, target string, demanded []string) {
	t.Helper()
	for _, name := range demanded {
		_, err := renderFilled("../k8s", target, values, name)
		if err == nil || !strings.Contains(err.Error(), "data."+name) {
			t.Errorf("%s without %s: %v", target, name, err)
		}
	}
}

func TestATemplateDoesNotRenderWithoutAnyOfItsValues(t *testing.T) {
	for _, template := range []string{"templates/production", "templates/staging"} {
		demanded := names(t, template)
		if len(demanded) < 9 || !slices.Contains(demanded, "TRUSTED_PROXIES") {
			t.Errorf("%s demands %q", template, demanded)
		}
		expectDemanded(t, template, demanded)
		if _, err := render("../k8s/" + template); err == nil {
			t.Errorf("%s renders as it is shipped", template)
		}
	}
}

// What a component's deployment.env lists, an overlay with the component has to fill.
func TestAComponentDoesNotRenderWithoutAnyOfItsValues(t *testing.T) {
	for component, target := range map[string]string{
		"components/console/deployment": "tests/with-console",
		"components/webhook-proxy":      "tests/other-names",
	} {
		demanded := names(t, component)
		if len(demanded) < 2 {
			t.Errorf("%s demands %q", component, demanded)
		}
		expectDemanded(t, target, demanded)
	}
}

func TestTheConsoleHasTheValuesOfItsDeployment(t *testing.T) {
	objects := filled(t, "tests/with-console")
	for _, line := range []string{
		"CONSOLE_ORIGIN: https://console.vidimus.test\n",
		"CONSOLE_API_ORIGIN: https://api.vidimus.test\n",
		"CONSOLE_OIDC_ISSUER: https://id.vidimus.test/realms/news\n",
		"TRUSTED_PROXIES: 10.20.0.0/16\n",
	} {
		expectText(t, objects, "ConfigMap/console-settings", line)
	}
	expectText(t, objects, "Ingress/console", "host: console.vidimus.test\n")
	expectText(t, objects, "Certificate/console", "spiffe://vidimus.test/console\n")
	expectText(t, objects, "Deployment/console", "vidimus/console@sha256:7777")
}

func TestDeliveryReachesAProxyAtTheAddressOfItsDeployment(t *testing.T) {
	objects := filled(t, "tests/other-names")
	expectText(t, objects, "NetworkPolicy/webhook-proxy", "cidr: 10.50.0.0/24\n")
	expectText(t, objects, "NetworkPolicy/webhook-proxy", "port: 8888\n")
	expectText(t, objects, "Deployment/delivery", "name: WEBHOOK_PROXY\n")
}

func filled(t *testing.T, target string) []object {
	t.Helper()
	objects, err := renderFilled("../k8s", target, values, "")
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// expectText looks for a text in an object, whose name may end with a hash.
func expectText(t *testing.T, objects []object, name, text string) {
	t.Helper()
	for _, each := range objects {
		if strings.HasPrefix(each.kind+"/"+each.name, name) && strings.Contains(string(each.text), text) {
			return
		}
	}
	t.Errorf("%s has no %q", name, text)
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
	for _, name := range names(t, "templates/production") {
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
	set, err := newSet(objects)
	if err != nil {
		t.Fatal(err)
	}
	_, matrix := production(t)
	if faults, _ := checkReachability(set, matrix); len(faults) > 0 {
		t.Errorf("%q", faults)
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
		faults := checkPlaceholders([]object{{kind: "ConfigMap", name: "gateway-settings", text: []byte(text)}})
		expectFault(t, faults, "ConfigMap/gateway-settings has the placeholder", name)
	}
	fine := object{kind: "Ingress", name: "gateway", text: []byte("host: api.acme.eu\nimage: a@sha256:01")}
	if faults := checkPlaceholders([]object{fine}); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

func TestEveryPlaceholderOfTheConsoleIsNamed(t *testing.T) {
	objects, err := render("../k8s/components/console")
	if err != nil {
		t.Fatal(err)
	}
	faults := checkPlaceholders(objects)
	for _, name := range []string{"CONSOLE_ORIGIN", "CONSOLE_API_ORIGIN", "CONSOLE_OIDC_ISSUER", "TRUSTED_PROXIES"} {
		expectFault(t, faults, "ConfigMap/console-settings", "has the placeholder "+name+": ")
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

// The identities at the broker are those that the services prove, in trust domain and namespace of
// the deployment.
func TestIdentitiesAtAPathOfTheDeployment(t *testing.T) {
	set, err := newSet(filled(t, "tests/other-names"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, workload := range []string{"gateway", "nats"} {
		for _, variable := range set.workload(workload).template.Spec.Containers[0].Env {
			found[variable.Name] = variable.Value
		}
	}
	if found["IDENTITY_PATH"] != "/ns/vidimus-test/sa/{service}" {
		t.Errorf("%q", found)
	}
	for _, service := range []string{"gateway", "documents", "delivery"} {
		if found[strings.ToUpper(service)+"_IDENTITY"] != "spiffe://vidimus.test/ns/vidimus-test/sa/"+service {
			t.Errorf("%q", found)
		}
	}
}
