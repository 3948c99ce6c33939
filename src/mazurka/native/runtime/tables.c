/* The tables of search.h: trees, hash tables, lists. */
#define _GNU_SOURCE
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "seen.h"

typedef int (*comparison)(const void *, const void *);

/* Trees: not balanced, which does not show. */

struct node {
    const void *key;  /* what tsearch gives points to it */
    struct node *left, *right;
};

/* Where the node of a key is, or would be; *parent is the one above it. */
static struct node **place_of(const void *key, void **root, comparison compare, struct node **parent) {
    struct node **at = (struct node **)root;
    *parent = NULL;
    while (*at) {
        int order = compare(key, (*at)->key);
        if (!order) break;
        *parent = *at;
        at = order < 0 ? &(*at)->left : &(*at)->right;
    }
    return at;
}

void *tsearch(const void *key, void **root, comparison compare) {
    CALLED;
    if (!root) return NULL;
    struct node *parent, **at = place_of(key, root, compare, &parent);
    if (*at) return *at;
    struct node *made = malloc(sizeof *made);
    if (made) {
        *made = (struct node){key, NULL, NULL};
        *at = made;
    }
    return made;
}

void *tfind(const void *key, void *const *root, comparison compare) {
    CALLED;
    struct node *parent;
    return root ? *place_of(key, (void **)root, compare, &parent) : NULL;
}

void *tdelete(const void *key, void **root, comparison compare) {
    CALLED;
    if (!root) return NULL;
    struct node *parent, **at = place_of(key, root, compare, &parent), *gone = *at;
    if (!gone) return NULL;
    if (gone->left && gone->right) {  /* the least one on the right takes its place */
        struct node **least = &gone->right;
        while ((*least)->left) least = &(*least)->left;
        struct node *heir = *least;
        *least = heir->right;
        heir->left = gone->left;
        heir->right = gone->right;
        *at = heir;
    } else {
        *at = gone->left ? gone->left : gone->right;
    }
    free(gone);
    return parent ? (void *)parent : (void *)root;  /* if it was the root, anything but NULL */
}

static void walk(const struct node *node, void (*visit)(const void *, VISIT, int), int depth) {
    if (!node->left && !node->right) {
        visit(node, leaf, depth);
        return;
    }
    visit(node, preorder, depth);
    if (node->left) walk(node->left, visit, depth + 1);
    visit(node, postorder, depth);
    if (node->right) walk(node->right, visit, depth + 1);
    visit(node, endorder, depth);
}

void twalk(const void *root, void (*visit)(const void *, VISIT, int)) {
    CALLED;
    if (root && visit) walk(root, visit, 0);
}

static void walk_with(const struct node *node, void (*visit)(const void *, VISIT, void *), void *with) {
    if (!node->left && !node->right) {
        visit(node, leaf, with);
        return;
    }
    visit(node, preorder, with);
    if (node->left) walk_with(node->left, visit, with);
    visit(node, postorder, with);
    if (node->right) walk_with(node->right, visit, with);
    visit(node, endorder, with);
}

void twalk_r(const void *root, void (*visit)(const void *, VISIT, void *), void *with) {
    CALLED;
    if (root && visit) walk_with(root, visit, with);
}

void tdestroy(void *root, void (*release)(void *)) {
    CALLED;
    struct node *node = root;
    if (!node) return;
    tdestroy(node->left, release);
    tdestroy(node->right, release);
    release((void *)node->key);
    free(node);
}

/* Hash tables: entries one after another. What is handed out points to one. */

static bool is_made(const struct hsearch_data *table) { return table->table != NULL; }

int hcreate_r(size_t most, struct hsearch_data *table) {
    CALLED;
    if (is_made(table)) return 0;
    table->table = calloc(most + 1, sizeof(ENTRY));
    table->size = (unsigned)most;
    table->filled = 0;
    return is_made(table);
}

void hdestroy_r(struct hsearch_data *table) {
    CALLED;
    free(table->table);
    table->table = NULL;
}

int hsearch_r(ENTRY item, ACTION action, ENTRY **found, struct hsearch_data *table) {
    CALLED;
    ENTRY *entries = (ENTRY *)table->table;
    for (unsigned place = 0; place < table->filled; place++) {
        if (strcmp(entries[place].key, item.key)) continue;
        *found = &entries[place];
        return 1;
    }
    *found = NULL;
    if (action == FIND || table->filled == table->size) {
        errno = action == FIND ? ESRCH : ENOMEM;
        return 0;
    }
    entries[table->filled] = item;
    *found = &entries[table->filled++];
    return 1;
}

static struct hsearch_data table_of_hsearch;
int hcreate(size_t most) { CALLED; return hcreate_r(most, &table_of_hsearch); }
void hdestroy(void) { CALLED; hdestroy_r(&table_of_hsearch); }
ENTRY *hsearch(ENTRY item, ACTION action) {
    CALLED;
    ENTRY *found;
    hsearch_r(item, action, &found, &table_of_hsearch);
    return found;
}

/* Arrays and lists */

void *lfind(const void *key, const void *items, size_t *count, size_t size, comparison compare) {
    CALLED;
    for (size_t place = 0; place < *count; place++) {
        const char *item = (const char *)items + place * size;
        if (!compare(key, item)) return (void *)item;
    }
    return NULL;
}

void *lsearch(const void *key, void *items, size_t *count, size_t size, comparison compare) {
    CALLED;
    void *found = lfind(key, items, count, size, compare);
    return found ? found : memcpy((char *)items + (*count)++ * size, key, size);
}

struct link { struct link *next, *previous; };

void insque(void *element, void *after) {
    CALLED;
    struct link *one = element, *before = after;
    one->previous = before;
    one->next = before ? before->next : NULL;
    if (!before) return;
    if (before->next) before->next->previous = one;
    before->next = one;
}

void remque(void *element) {
    CALLED;
    struct link *one = element;
    if (one->next) one->next->previous = one->previous;
    if (one->previous) one->previous->next = one->next;
}
