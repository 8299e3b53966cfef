// Part of every program that is linked statically (ASTRA_STATIC): looks host
// names up in /etc/hosts and DNS, whatever /etc/nsswitch.conf says.
//
// The other services that nsswitch.conf may name are shared libraries of the
// system's C library. A program with a C library of its own that loads one of
// them crashes where the two are of different releases.
//
// Source: "Name Service Switch" in the manual of the GNU C library; the call is
// declared in its nss.h.

#include <nss.h>

namespace {

[[gnu::constructor]] void UseFilesAndDns() {
  __nss_configure_lookup("hosts", "files dns");
}

}  // namespace
