// Functions of the C++ library that access nodes of the program's trees and lists. They are compiled
// as the program is, so that each access is seen; a step of theirs is told at the line that calls them.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>

#define PLACE ((uintptr_t)__builtin_return_address(0))
#define CALLED Called called(PLACE)

extern "C" __attribute__((visibility("hidden"))) void *mz_enter(uintptr_t caller);
extern "C" __attribute__((visibility("hidden"))) void mz_leave(void *noted);

namespace {
struct Called {
    void *noted;
    explicit Called(uintptr_t caller) : noted(mz_enter(caller)) {}
    ~Called() { mz_leave(noted); }
};
}  // namespace

namespace std {

// Hashes of texts, for unordered containers: FNV-1a, as programs must not depend on their order.

static size_t hash_of(const void *from, size_t size, size_t hash) {
    const unsigned char *bytes = static_cast<const unsigned char *>(from);
    for (size_t place = 0; place < size; place++) hash = (hash ^ bytes[place]) * 0x100000001b3;
    return hash ^ hash >> 32;
}

size_t _Hash_bytes(const void *from, size_t size, size_t seed) {
    CALLED;
    return hash_of(from, size, seed ^ 0xcbf29ce484222325);
}
size_t _Fnv_hash_bytes(const void *from, size_t size, size_t seed) {
    CALLED;
    return hash_of(from, size, seed);
}

// Red-black trees. The header's parent is the root; its left and right are the first and the last.

using Node = _Rb_tree_node_base;

static Node *next(Node *node) {
    if (node->_M_right) {
        node = node->_M_right;
        while (node->_M_left) node = node->_M_left;
        return node;
    }
    Node *above = node->_M_parent;
    while (node == above->_M_right) {
        node = above;
        above = above->_M_parent;
    }
    return node->_M_right == above ? node : above;  // the root is the last: above is the header
}

static Node *previous(Node *node) {
    if (node->_M_color == _S_red && node->_M_parent->_M_parent == node) return node->_M_right;
    if (node->_M_left) {
        node = node->_M_left;
        while (node->_M_right) node = node->_M_right;
        return node;
    }
    Node *above = node->_M_parent;
    while (node == above->_M_left) {
        node = above;
        above = above->_M_parent;
    }
    return above;
}

Node *_Rb_tree_increment(Node *node) throw() { CALLED; return next(node); }
Node *_Rb_tree_decrement(Node *node) throw() { CALLED; return previous(node); }
const Node *_Rb_tree_increment(const Node *node) throw() {
    CALLED;
    return next(const_cast<Node *>(node));
}
const Node *_Rb_tree_decrement(const Node *node) throw() {
    CALLED;
    return previous(const_cast<Node *>(node));
}

// Put another node, or none, where a node hangs.
static void replace(Node *node, Node *other, Node *&root) {
    if (root == node) root = other;
    else if (node->_M_parent->_M_left == node) node->_M_parent->_M_left = other;
    else node->_M_parent->_M_right = other;
    if (other) other->_M_parent = node->_M_parent;
}

static void rotate(Node *node, bool to_left, Node *&root) {
    Node *child = to_left ? node->_M_right : node->_M_left;
    Node *inner = to_left ? child->_M_left : child->_M_right;
    replace(node, child, root);
    (to_left ? child->_M_left : child->_M_right) = node;
    (to_left ? node->_M_right : node->_M_left) = inner;
    node->_M_parent = child;
    if (inner) inner->_M_parent = node;
}

void _Rb_tree_insert_and_rebalance(const bool is_left, Node *node, Node *above,
                                   Node &header) throw() {
    CALLED;
    Node *&root = header._M_parent;
    node->_M_parent = above;
    node->_M_left = node->_M_right = nullptr;
    node->_M_color = _S_red;
    if (is_left) {
        above->_M_left = node;  // of the header, this is the first
        if (above == &header) header._M_parent = header._M_right = node;
        else if (above == header._M_left) header._M_left = node;
    } else {
        above->_M_right = node;
        if (above == header._M_right) header._M_right = node;
    }
    while (node != root && node->_M_parent->_M_color == _S_red) {
        Node *parent = node->_M_parent, *grandparent = parent->_M_parent;
        bool parent_is_left = parent == grandparent->_M_left;
        Node *uncle = parent_is_left ? grandparent->_M_right : grandparent->_M_left;
        if (uncle && uncle->_M_color == _S_red) {
            parent->_M_color = uncle->_M_color = _S_black;
            grandparent->_M_color = _S_red;
            node = grandparent;
            continue;
        }
        if (node == (parent_is_left ? parent->_M_right : parent->_M_left)) {
            rotate(parent, parent_is_left, root);
            node = parent;
            parent = node->_M_parent;
        }
        parent->_M_color = _S_black;
        grandparent->_M_color = _S_red;
        rotate(grandparent, !parent_is_left, root);
    }
    root->_M_color = _S_black;
}

// A black node is missing at a place, which may be empty, below a node.
static void repair(Node *place, Node *above, Node *&root) {
    while (place != root && (!place || place->_M_color == _S_black)) {
        bool is_left = place == above->_M_left;
        Node *sibling = is_left ? above->_M_right : above->_M_left;
        if (sibling->_M_color == _S_red) {
            sibling->_M_color = _S_black;
            above->_M_color = _S_red;
            rotate(above, is_left, root);
            sibling = is_left ? above->_M_right : above->_M_left;
        }
        Node *near = is_left ? sibling->_M_left : sibling->_M_right;
        Node *far = is_left ? sibling->_M_right : sibling->_M_left;
        bool far_is_red = far && far->_M_color == _S_red;
        if (!far_is_red && (!near || near->_M_color == _S_black)) {
            sibling->_M_color = _S_red;
            place = above;
            above = above->_M_parent;
            continue;
        }
        if (!far_is_red) {
            near->_M_color = _S_black;
            sibling->_M_color = _S_red;
            rotate(sibling, !is_left, root);
            sibling = is_left ? above->_M_right : above->_M_left;
            far = is_left ? sibling->_M_right : sibling->_M_left;
        }
        sibling->_M_color = above->_M_color;
        above->_M_color = _S_black;
        if (far) far->_M_color = _S_black;
        rotate(above, is_left, root);
        break;
    }
    if (place) place->_M_color = _S_black;
}

Node *_Rb_tree_rebalance_for_erase(Node *const node, Node &header) throw() {
    CALLED;
    Node *&root = header._M_parent;
    if (header._M_left == node) header._M_left = next(node);  // the header, if it was the only one
    if (header._M_right == node) header._M_right = previous(node);
    Node *place, *above;
    _Rb_tree_color lost = node->_M_color;
    if (!node->_M_left || !node->_M_right) {
        place = node->_M_left ? node->_M_left : node->_M_right;
        above = node->_M_parent;
        replace(node, place, root);
    } else {
        Node *heir = node->_M_right;
        while (heir->_M_left) heir = heir->_M_left;
        lost = heir->_M_color;
        place = heir->_M_right;
        above = heir->_M_parent == node ? heir : heir->_M_parent;
        if (above != heir) {
            replace(heir, place, root);
            heir->_M_right = node->_M_right;
            heir->_M_right->_M_parent = heir;
        }
        replace(node, heir, root);
        heir->_M_left = node->_M_left;
        heir->_M_left->_M_parent = heir;
        heir->_M_color = node->_M_color;
    }
    if (lost == _S_black && root) repair(place, above, root);
    if (!root) header._M_left = header._M_right = &header;
    return node;
}

namespace __detail {

void _List_node_base::_M_hook(_List_node_base *const before) noexcept {
    CALLED;
    _M_next = before;
    _M_prev = before->_M_prev;
    before->_M_prev->_M_next = this;
    before->_M_prev = this;
}

void _List_node_base::_M_unhook() noexcept {
    CALLED;
    _M_prev->_M_next = _M_next;
    _M_next->_M_prev = _M_prev;
}

void _List_node_base::_M_transfer(_List_node_base *const first,
                                  _List_node_base *const last) noexcept {
    CALLED;
    if (this == last) return;
    _List_node_base *end = last->_M_prev, *before = first->_M_prev, *own = _M_prev;
    before->_M_next = last;
    last->_M_prev = before;
    own->_M_next = first;
    first->_M_prev = own;
    end->_M_next = this;
    _M_prev = end;
}

void _List_node_base::_M_reverse() noexcept {
    CALLED;
    _List_node_base *node = this;
    do {
        _List_node_base *following = node->_M_next;
        node->_M_next = node->_M_prev;
        node->_M_prev = following;
        node = following;
    } while (node != this);
}

void _List_node_base::swap(_List_node_base &one, _List_node_base &other) noexcept {
    CALLED;
    _List_node_base first = one, second = other;
    bool first_is_empty = first._M_next == &one, second_is_empty = second._M_next == &other;
    one = second_is_empty ? _List_node_base{&one, &one} : second;
    other = first_is_empty ? _List_node_base{&other, &other} : first;
    if (!second_is_empty) one._M_next->_M_prev = one._M_prev->_M_next = &one;
    if (!first_is_empty) other._M_next->_M_prev = other._M_prev->_M_next = &other;
}

}  // namespace __detail
}  // namespace std
