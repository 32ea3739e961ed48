package main

import (
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// A Matrix is the oracle of the NetworkPolicies: what it does not open must be closed.
type Matrix struct {
	// Peers are pods and addresses beside the rendered workloads.
	Peers map[string]PeerSpec `json:"peers"`
	// Doors are ports of rendered workloads that no container declares.
	Doors map[string]map[string]string `json:"doors"`
	Open  []OpenRule                   `json:"open"`
}

// A PeerSpec describes a pod by its labels and those of its namespace, or an address.
type PeerSpec struct {
	// Namespace holds labels; without them the pod is in the namespace of Vidimus.
	Namespace map[string]string `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Address   string            `json:"address"`
	// Ports by name: "443" or "53/UDP". Without ports the peer only calls.
	Ports  map[string]string `json:"ports"`
	Policy PolicyDoor        `json:"policy"`
}

// A PolicyDoor is the door that the first egress rule of a NetworkPolicy opens. Where the policy is
// rendered, its rule states the peer's address and the door's port, which differ between
// deployments.
type PolicyDoor struct {
	Name string `json:"name"`
	Door string `json:"door"`
}

// An OpenRule opens every combination of its members.
type OpenRule struct {
	From  []string `json:"from"`
	To    []string `json:"to"`
	Doors []string `json:"doors"`
	// With names an object ("Kind/name") without which the rule does not hold.
	With string `json:"with"`
}

// A Peer is one end of a connection.
type Peer struct {
	name string
	// inside: in the namespace of Vidimus, so its policies apply.
	inside          bool
	labels          map[string]string
	namespaceLabels map[string]string
	address         netip.Addr
	doors           map[string]Port
	// policy names the NetworkPolicy that states the address.
	policy string
}

// A Port is a number and a protocol.
type Port struct {
	number   int32
	protocol corev1.Protocol
}

type pairCount struct{ open, all int }

// checkReachability compares every connection between every two peers, of which at least one is
// inside, with the matrix.
func checkReachability(set *Set, matrix *Matrix) (faults []string, pairs pairCount) {
	peers, err := collectPeers(set, matrix)
	if err != nil {
		return []string{err.Error()}, pairs
	}
	faults = unknownNames(peers, matrix)
	for _, from := range peers {
		for _, to := range peers {
			if from.name == to.name || (!from.inside && !to.inside) {
				continue
			}
			for _, door := range sortedKeys(to.doors) {
				isOpen := connects(set.policies, from, to, to.doors[door])
				wanted := matrix.opens(set, from.name, to.name, door) || opensAnyway(set, from, to, to.doors[door])
				pairs.all++
				if isOpen {
					pairs.open++
				}
				if isOpen != wanted {
					faults = append(faults, fmt.Sprintf("%s → %s %s (%d): %s, the matrix says %s",
						from.name, to.name, door, to.doors[door].number, word(isOpen), word(wanted)))
				}
			}
		}
	}
	return faults, pairs
}

func word(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

func (m *Matrix) opens(set *Set, from, to, door string) bool {
	return slices.ContainsFunc(m.Open, func(rule OpenRule) bool {
		_, isThere := set.objects[rule.With]
		return slices.Contains(rule.From, from) && slices.Contains(rule.To, to) && slices.Contains(rule.Doors, door) &&
			(rule.With == "" || isThere)
	})
}

// opensAnyway says whether the other policies open an address that a policy states: delivery may
// call every public one. Whether they should is compared at the fixed addresses.
func opensAnyway(set *Set, from, to Peer, port Port) bool {
	return to.policy != "" && connects(withoutEgress(set.policies, to.policy), from, to, port)
}

// unknownNames finds rules that can never match, for example after a rename.
func unknownNames(peers []Peer, matrix *Matrix) []string {
	known := map[string]bool{}
	for _, peer := range peers {
		known[peer.name] = true
	}
	var faults []string
	for _, rule := range matrix.Open {
		for _, name := range slices.Concat(rule.From, rule.To) {
			if !known[name] && rule.With == "" {
				faults = append(faults, fmt.Sprintf("reachability.json names %q, which is neither a workload nor a peer", name))
			}
		}
	}
	return faults
}

func collectPeers(set *Set, matrix *Matrix) ([]Peer, error) {
	var peers []Peer
	for _, workload := range set.workloads {
		peer := Peer{name: workload.label(), inside: true, labels: workload.template.Labels, doors: map[string]Port{}}
		peer.namespaceLabels = namespaceLabels(set)
		for _, container := range workload.template.Spec.Containers {
			for _, port := range container.Ports {
				peer.doors[port.Name] = Port{port.ContainerPort, corev1.ProtocolTCP}
			}
		}
		if err := addPorts(peer.doors, matrix.Doors[peer.name]); err != nil {
			return nil, err
		}
		peers = append(peers, peer)
	}
	for _, name := range sortedKeys(matrix.Peers) {
		peer, err := toPeer(set, name, matrix.Peers[name])
		if err != nil {
			return nil, err
		}
		peers = append(peers, peer)
	}
	return peers, nil
}

func toPeer(set *Set, name string, spec PeerSpec) (Peer, error) {
	peer := Peer{name: name, labels: spec.Labels, namespaceLabels: spec.Namespace, doors: map[string]Port{}}
	if spec.Address != "" {
		address, err := netip.ParseAddr(spec.Address)
		if err != nil {
			return peer, err
		}
		peer.address = address
	} else if spec.Namespace == nil {
		peer.inside = true
		peer.namespaceLabels = namespaceLabels(set)
	}
	if err := addPorts(peer.doors, spec.Ports); err != nil {
		return peer, err
	}
	return peer, peer.follow(set.policy(spec.Policy.Name), spec.Policy.Door)
}

// follow takes the address of a peer and the port of its door from a policy, as far as it states
// them.
func (p *Peer) follow(policy *networkingv1.NetworkPolicy, door string) error {
	if policy == nil || len(policy.Spec.Egress) == 0 {
		return nil
	}
	rule := policy.Spec.Egress[0]
	if len(rule.To) > 0 && rule.To[0].IPBlock != nil {
		block, err := netip.ParsePrefix(rule.To[0].IPBlock.CIDR)
		if err != nil {
			return fmt.Errorf("NetworkPolicy/%s: %w", policy.Name, err)
		}
		p.address = block.Addr()
		p.policy = policy.Name
	}
	if len(rule.Ports) > 0 && rule.Ports[0].Port != nil {
		p.doors[door] = Port{rule.Ports[0].Port.IntVal, corev1.ProtocolTCP}
	}
	return nil
}

// namespaceLabels adds the label that the API server gives to every namespace.
func namespaceLabels(set *Set) map[string]string {
	labels := map[string]string{"kubernetes.io/metadata.name": set.namespace.Name}
	for key, value := range set.namespace.Labels {
		labels[key] = value
	}
	return labels
}

func addPorts(doors map[string]Port, ports map[string]string) error {
	for name, text := range ports {
		number, protocol, _ := strings.Cut(text, "/")
		value, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return fmt.Errorf("port %s: %w", name, err)
		}
		if protocol == "" {
			protocol = "TCP"
		}
		doors[name] = Port{int32(value), corev1.Protocol(protocol)}
	}
	return nil
}

func sortedKeys[V any](values map[string]V) []string {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
